// SPDX-License-Identifier: Apache-2.0
#include "net/resp/session.hpp"

#include <boost/asio/error.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <coroutine>
#include <span>
#include <utility>

namespace holdfast::net::resp {

using namespace std::chrono_literals;
using boost::system::error_code;

namespace {

constexpr runtime::Backoff between_attempts{.first = 20ms, .cap = 1s};
// Behind an address that leads to several servers in turn the right one is soon met.
constexpr runtime::Backoff between_servers{.first = 10ms, .cap = 20ms};
constexpr unsigned most_servers = 16;

struct Moved {
  error_code failed;
  std::size_t bytes = 0;
};

// Awaits something that calls back once, on the loop's thread and not inside `start`.
template <typename Start>
class Awaited {
 public:
  explicit Awaited(Start start) : start_(std::move(start)) {}
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> waiter) {
    start_([this, waiter](error_code failed, std::size_t bytes) {
      moved_ = {failed, bytes};
      waiter.resume();
    });
  }
  Moved await_resume() const { return moved_; }

 private:
  Start start_;
  Moved moved_;
};

class LinkOpens {
 public:
  explicit LinkOpens(Link& link) : link_(link) {}
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> waiter) {
    link_.open([this, waiter](Result<void> result) {
      result_ = std::move(result);
      waiter.resume();
    });
  }
  Result<void> await_resume() { return std::move(result_); }

 private:
  Link& link_;
  Result<void> result_;
};

}  // namespace

Session::Session(std::shared_ptr<runtime::Runtime> runtime, Endpoint endpoint,
                 std::weak_ptr<Owner> owner)
    : runtime_(std::move(runtime)),
      context_(dynamic_cast<runtime::LoopRuntime&>(*runtime_).context()),
      endpoint_(std::move(endpoint)),
      peer_(endpoint_.describe()),
      owner_(std::move(owner)),
      closing_(runtime_) {}

Error Session::error(std::string_view reason) const {
  return {Errc::unavailable, fmt::format("{}: {}", peer_, reason)};
}

std::unexpected<Error> Session::broken(std::string_view reason) const {
  return std::unexpected(error(reason));
}

void Session::start() {
  runtime_->post([self = shared_from_this()] { live(self); });
}

void Session::drop(Error why, bool server_is_to_blame) {
  if (!why_) why_ = std::move(why);
  server_is_to_blame_ |= server_is_to_blame;
  if (link_) link_->abandon();
}

void Session::close() {
  is_closed_ = true;
  // In good order: what the owner sent last still arrives.
  if (link_) link_->close();
  drop(error("closed"));
  closing_.notify();
}

runtime::Detached Session::live(std::shared_ptr<Session> self) {
  while (!self->is_closed_) {
    const bool at_once = co_await self->live_once();
    if (at_once || self->is_closed_) continue;
    const auto delay = next_delay(self->pace(), self->failures_, self->runtime_->random());
    ++self->failures_;
    auto waiting = self->closing_.wait_until(self->runtime_->now() + delay);
    co_await waiting;
  }
}

const runtime::Backoff& Session::pace() const {
  return server_is_to_blame_ && failures_ < most_servers ? between_servers : between_attempts;
}

// True when the next attempt may follow at once.
Task<bool> Session::live_once() {
  why_.reset();
  server_is_to_blame_ = has_greeted_ = has_answered_ = false;
  link_ = std::make_shared<Link>(context_, endpoint_);
  parser_.emplace();
  if (const auto told = owner()) told->connecting();

  const auto limit = std::chrono::ceil<std::chrono::milliseconds>(endpoint_.connect_timeout);
  const auto timer = runtime_->schedule(runtime_->now() + limit, [weak = weak_from_this(), limit] {
    const auto self = weak.lock();
    if (self) self->drop(self->error(fmt::format("no connection within {} ms", limit.count())));
  });
  Result<void> established = co_await establish();
  runtime_->cancel(timer);
  if (!established) {
    give_up_attempt(why_ ? *why_ : std::move(established.error()));
    co_return false;
  }

  const auto up_since = runtime_->now();
  if (const auto told = owner()) told->came_up(link_);
  const Error lost = co_await read_until_lost();
  link_->abandon();
  link_.reset();
  if (const auto told = owner()) told->went_down(lost);
  if (may_retry_at_once(up_since)) co_return true;
  if (const auto told = owner()) told->backing_off(lost);
  co_return false;
}

void Session::give_up_attempt(Error why) {
  link_->abandon();
  link_.reset();
  // It will be there soon, and waiters should not find out a second later.
  if (is_loading(why)) failures_ = std::min(failures_, 1U);
  const auto told = owner();
  if (!told) return;
  if (has_greeted_) told->went_down(why);
  told->backing_off(why);
}

bool Session::may_retry_at_once(runtime::LocalTime up_since) {
  const auto lived = runtime_->now() - up_since;
  constexpr auto long_enough_to_forget = 10s;
  if (lived >= long_enough_to_forget) failures_ = 0;
  // A server that lets us in and closes the door each time would be asked in a tight loop.
  const bool was_healthy = has_answered_ || lived >= 1s;
  if (server_is_to_blame_ || !was_healthy) return false;
  failures_ = 0;
  return true;
}

Task<Result<void>> Session::establish() {
  LinkOpens opens(*link_);
  Result<void> opened = co_await opens;
  if (!opened) co_return broken(opened.error().message);

  Opening said = login(endpoint_);
  auto replies = co_await exchange(std::move(said));
  if (!replies) co_return std::unexpected(with_hint(std::move(replies.error())));
  if (const auto let_in = judge_login(endpoint_, *replies); !let_in) {
    co_return broken(fmt::format("login refused: {}", let_in.error().message));
  }

  Opening greeting;
  if (const auto asked = owner()) greeting = asked->greeting();
  auto answers = co_await exchange(std::move(greeting));
  if (!answers) co_return std::unexpected(std::move(answers.error()));
  if (const auto told = owner()) {
    if (const auto fits = told->greeted(std::move(*answers)); !fits) {
      co_return broken(fits.error().message);
    }
    has_greeted_ = true;
  }
  if (why_) co_return std::unexpected(*why_);
  co_return Result<void>{};
}

// With TLS 1.3 a client without a certificate learns after the handshake that it needed one, and
// the alert that says so is often lost in the reset that follows.
Error Session::with_hint(Error error) const {
  if (why_ || !endpoint_.tls || !endpoint_.tls->certificate.empty()) return error;
  error.message += " (does the server ask for a client certificate?)";
  return error;
}

Task<Result<std::vector<Reply>>> Session::exchange(Opening opening) {
  std::vector<Reply> replies;
  for (std::string_view rest = opening.bytes; !rest.empty();) {
    Awaited writing([this, rest](Link::Moved moved) { link_->write(rest, std::move(moved)); });
    const Moved wrote = co_await writing;
    if (wrote.failed) co_return broken(wrote.failed.message());
    rest.remove_prefix(wrote.bytes);
  }
  while (replies.size() < opening.replies) {
    Result<Reply> reply = parser_->next();
    if (!reply) co_return broken(reply.error().message);
    if (*reply) {
      replies.push_back(std::move(*reply));
      const bool is_refusal = is_error(*replies.back()) && replies.size() > opening.may_fail;
      if (is_refusal && opening.an_error_ends_it) co_return broken(text_of(*replies.back()));
      continue;
    }
    Result<void> read = co_await read_more();
    if (read) continue;
    // A server that is full says so and hangs up.
    for (const Reply& before : replies) {
      if (is_error(*before)) co_return broken(text_of(*before));
    }
    co_return std::unexpected(std::move(read.error()));
  }
  co_return std::move(replies);
}

Task<Result<void>> Session::read_more() {
  Awaited reading([this](Link::Moved moved) { link_->read(received_, std::move(moved)); });
  const Moved got = co_await reading;
  co_return take_in(got.failed, got.bytes);
}

Result<void> Session::take_in(const error_code& failed, std::size_t bytes) {
  // What comes after the verdict is thrown away, even if it was in the socket before.
  if (why_) return std::unexpected(*why_);
  if (failed == boost::asio::error::eof) return broken("the server closed the connection");
  if (failed) return broken(failed.message());
  parser_->feed({received_.data(), bytes});
  return {};
}

Result<void> Session::hand_over_replies() {
  std::vector<Reply> replies;
  while (true) {
    Result<Reply> reply = parser_->next();
    if (!reply) return broken(reply.error().message);
    if (!*reply) break;
    replies.push_back(std::move(*reply));
  }
  const auto told = owner();
  if (!told) return {};
  if (replies.empty()) {
    told->heard();
    return {};
  }
  has_answered_ = true;
  return told->received(replies);
}

Task<Error> Session::read_until_lost() {
  Result<void> goes_on = hand_over_replies();
  while (goes_on && !why_) {
    Awaited reading([this](Link::Moved moved) { link_->read(received_, std::move(moved)); });
    const Moved got = co_await reading;
    goes_on = take_in(got.failed, got.bytes);
    if (goes_on) goes_on = hand_over_replies();
  }
  co_return why_ ? *why_ : std::move(goes_on.error());
}

}  // namespace holdfast::net::resp
