// SPDX-License-Identifier: Apache-2.0
#include "net/http/client.hpp"

#include "net/http/client_pool.hpp"
#include "runtime/fork.hpp"

#include <fmt/format.h>

namespace holdfast::net::http {

namespace {

using Answer = Result<ClientResponse>;

// What has been sent is about to be answered, and whoever cancels an acquire wants to take it back:
// on another connection that could overtake it. So the answer is waited for, a moment.
constexpr auto patience_after_stop = std::chrono::milliseconds(80);

struct GiveUp {
  std::shared_ptr<ClientPool> pool;
  std::shared_ptr<Exchange> exchange;
  void operator()() const {
    pool->runtime()->post([pool = pool, exchange = exchange] {
      const auto give_up = [pool, exchange] {
        pool->give_up(exchange, Errc::cancelled, "cancelled");
      };
      if (!exchange->connection) return give_up();
      auto& runtime = *pool->runtime();
      runtime.schedule(runtime.now() + patience_after_stop, give_up);
    });
  }
};

Task<Answer> send_one(std::shared_ptr<ClientPool> pool, std::shared_ptr<Exchange> exchange,
                      runtime::LocalTime deadline, std::stop_token stop) {
  pool->runtime()->post([pool, exchange] { pool->begin(exchange); });
  GiveUp give_up{pool, exchange};
  const std::stop_callback on_stop(std::move(stop), std::move(give_up));
  const bool in_time = co_await exchange->done.wait_until(deadline);
  if (!in_time) {
    // On the loop's thread, as every deadline. If it was over by then, its notice is on the way.
    pool->give_up(exchange, Errc::unavailable, "no answer before the deadline");
    co_await exchange->done.wait_until(runtime::LocalTime::max());
  }
  co_return std::move(exchange->result);
}

}  // namespace

Client::Client(std::shared_ptr<runtime::Runtime> runtime, Origin origin,
               std::function<void()> broken)
    : pool_(std::make_shared<ClientPool>(std::move(runtime), std::move(origin), std::move(broken))),
      generation_(runtime::fork_generation()) {}

Client::~Client() {
  // The child shares the parent's epoll: closing a socket here would take it from the parent.
  if (is_of_a_parent()) {
    static_cast<void>(new std::shared_ptr<ClientPool>(std::move(pool_)));
    return;
  }
  pool_->runtime()->post([pool = pool_] { pool->close(); });
}

bool Client::is_of_a_parent() const { return generation_ != runtime::fork_generation(); }

const Origin& Client::origin() const { return pool_->origin(); }

Task<Answer> Client::send(ClientRequest request) {
  const auto refuse = [&](Errc code, std::string_view why) {
    if (request.settled) request.settled(true);
    return Task<Answer>(fail(code, fmt::format("{}: {}", origin().describe(), why)));
  };
  if (is_of_a_parent()) {
    return refuse(Errc::unavailable, "the connection belongs to the parent of this process");
  }
  if (request.stop.stop_requested()) return refuse(Errc::cancelled, "cancelled");
  auto exchange = std::make_shared<Exchange>(pool_->runtime());
  exchange->bytes = bytes_of(origin(), request);
  exchange->is_head = request.method == "HEAD";
  exchange->repeatable = request.repeatable;
  exchange->deadline = request.deadline;
  exchange->settled = std::move(request.settled);
  return send_one(pool_, std::move(exchange), request.deadline, std::move(request.stop));
}

std::unique_ptr<ClientStream> Client::open_stream(const ClientRequest& request,
                                                  StreamEvents events) {
  return open_client_stream(pool_->runtime(), origin(), request, std::move(events));
}

}  // namespace holdfast::net::http
