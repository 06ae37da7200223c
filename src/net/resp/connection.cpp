// SPDX-License-Identifier: Apache-2.0
#include "net/resp/connection.hpp"

#include "net/resp/connection_shared.hpp"

#include <fmt/format.h>

#include <coroutine>
#include <utility>

namespace holdfast::net::resp {

namespace {

template <typename Shared, typename StopWatch>
class Sending {
 public:
  Sending(Shared& shared, Call& call, std::stop_token stop)
      : shared_(shared), call_(call), stop_(std::move(stop)) {}

  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> waiter) {
    call_.waiter = waiter;
    // Before it returns the coroutine may have ended on the other thread, and this with it.
    return shared_.begin(call_, watch_, std::move(stop_));
  }
  Result<Reply> await_resume() {
    shared_.forget_timer(call_);
    watch_.reset();
    return std::move(call_.answer);
  }

 private:
  Shared& shared_;
  Call& call_;
  std::stop_token stop_;
  StopWatch watch_;
};

template <typename Shared>
Task<Result<Reply>> send_one(std::shared_ptr<Shared> shared, Call call, std::stop_token stop) {
  Sending<Shared, typename Shared::StopWatch> sending(*shared, call, std::move(stop));
  co_return co_await sending;
}

template <typename Shared>
Task<Result<void>> wait_connected(std::shared_ptr<Shared> shared, LocalTime deadline) {
  while (const auto event = shared->wait_for_connection()) {
    auto waiting = event->wait_until(deadline);
    if (co_await waiting) continue;
    shared->forget(event);
    if (shared->is_connected()) break;
    co_return std::unexpected(shared->last_error());
  }
  if (!shared->is_connected()) co_return std::unexpected(shared->last_error());
  co_return Result<void>{};
}

std::unexpected<Error> of_a_parent(const std::string& peer) {
  return fail(Errc::unavailable,
              fmt::format("{}: the connection belongs to the parent of this process", peer));
}

}  // namespace

Connection::Connection(std::shared_ptr<runtime::Runtime> runtime, Endpoint endpoint, Events events)
    : shared_(
          std::make_shared<Shared>(std::move(runtime), std::move(endpoint), std::move(events))) {
  shared_->make_session();
}

void Connection::start() { shared_->start(); }

Connection::~Connection() {
  // The child shares the parent's epoll: closing a socket here would take it from the parent.
  if (shared_->is_of_a_parent())
    shared_->stay();
  else
    shared_->close();
}

Task<Result<Reply>> Connection::send(std::string command, LocalTime deadline, std::stop_token stop,
                                     Asking how) {
  if (shared_->is_of_a_parent()) return Task<Result<Reply>>(of_a_parent(shared_->peer()));
  Call call{.bytes = std::move(command),
            .replies = how.replies,
            .only_if_prepared = how.only_if_prepared,
            .deadline = deadline};
  return send_one(shared_, std::move(call), std::move(stop));
}

void Connection::set_prepared(bool is_prepared) {
  if (!shared_->is_of_a_parent()) shared_->set_prepared(is_prepared);
}

void Connection::reconnect(Error why) {
  if (!shared_->is_of_a_parent()) shared_->reconnect(std::move(why));
}

bool Connection::is_connected() const {
  return !shared_->is_of_a_parent() && shared_->is_connected();
}

Task<Result<void>> Connection::connected(LocalTime deadline) {
  if (shared_->is_of_a_parent()) return Task<Result<void>>(of_a_parent(shared_->peer()));
  return wait_connected(shared_, deadline);
}

}  // namespace holdfast::net::resp
