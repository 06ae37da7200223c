// SPDX-License-Identifier: Apache-2.0
#include "backends/redis/server.hpp"

#include "backends/redis/error_replies.hpp"
#include "backends/redis/wire.hpp"
#include "runtime/backoff.hpp"
#include "runtime/event.hpp"

namespace holdfast::backends::redis {

namespace {

using net::resp::is_error;
using net::resp::text_of;
using store::Reply;
using store::Request;
using Then = Refusal::Then;

constexpr runtime::Backoff between_retries{.first = std::chrono::milliseconds(5),
                                           .cap = std::chrono::milliseconds(100)};

}  // namespace

Server::Server(std::shared_ptr<runtime::Runtime> runtime, const Options& options)
    : runtime_(std::move(runtime)),
      peer_(options.endpoint.describe()),
      dialect_(options.dialect),
      scripts_({.dialect = dialect_.profile().script,
                .unit_ms = dialect_.profile().unit_ms,
                .audit = options.audit,
                .prelude = {}}),
      connection_(runtime_, options.endpoint,
                  {.greeting = [resync = resync_] {
                     resync->store(true);
                     return std::vector<std::string>{};
                   },
                   .greeted = {},
                   .dropped = {}}) {}

Task<Result<void>> Server::connected(runtime::LocalTime deadline) {
  return connection_.connected(deadline);
}

Task<bool> Server::let_pass(Error error, unsigned failures, runtime::LocalTime deadline,
                            bool reconnect) {
  resync_->store(true);
  if (reconnect) connection_.reconnect(std::move(error));
  const auto delay = next_delay(between_retries, failures, runtime_->random());
  if (runtime_->now() + delay >= deadline) co_return false;
  runtime::Event nobody(runtime_);
  co_await nobody.wait_until(runtime_->now() + delay);
  co_return true;
}

Task<Result<Reply>> Server::apply(Request request) {
  const auto& command = std::get<model::LockCommand>(request.command);
  Sending sending;
  for (unsigned failures = 0;; ++failures) {
    sending.resync = resync_->load(std::memory_order_relaxed);
    auto asking = connection_.send(encode(scripts_, dialect_, request.name, command, sending),
                                   request.deadline, request.stop);
    Result<net::resp::Reply> reply = co_await std::move(asking);
    if (!reply) co_return std::unexpected(std::move(reply.error()));
    if (!is_error(**reply)) {
      if (sending.resync) resync_->store(false, std::memory_order_relaxed);
      co_return decode(command, **reply);
    }
    Refusal refusal = judge(text_of(**reply), peer_);
    if (refusal.then == Then::load_script && !sending.by_text) {
      sending.by_text = true;
      continue;
    }
    if (refusal.then != Then::retry && refusal.then != Then::change_server) {
      co_return std::unexpected(std::move(refusal.error));
    }
    auto waiting = let_pass(refusal.error, failures, request.deadline,
                            refusal.then == Then::change_server);
    if (!co_await std::move(waiting)) co_return std::unexpected(std::move(refusal.error));
  }
}

Task<Result<net::resp::Reply>> Server::ask(std::string command, runtime::LocalTime deadline) {
  auto asking = connection_.send(std::move(command), deadline);
  Result<net::resp::Reply> reply = co_await std::move(asking);
  if (reply && is_error(**reply)) {
    co_return std::unexpected(judge(text_of(**reply), peer_).error);
  }
  co_return reply;
}

}  // namespace holdfast::backends::redis
