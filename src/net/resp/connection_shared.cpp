// SPDX-License-Identifier: Apache-2.0
#include "net/resp/connection_shared.hpp"

#include "runtime/fork.hpp"

#include <fmt/format.h>

#include <utility>

namespace holdfast::net::resp {

namespace {

// Far more than a client with thousands of locks has under way.
constexpr std::size_t most_calls = std::size_t{1} << 16;

void answer_all(const std::vector<Call*>& calls, const Error& error) {
  for (Call* call : calls) {
    call->answer = std::unexpected(error);
    call->waiter.resume();
  }
}

void notify_all(const std::vector<std::shared_ptr<runtime::Event>>& events) {
  for (const auto& event : events) event->notify();
}

}  // namespace

Connection::Shared::Shared(std::shared_ptr<runtime::Runtime> runtime, Endpoint endpoint,
                           Events events)
    : runtime_(std::move(runtime)),
      endpoint_(std::move(endpoint)),
      peer_(endpoint_.describe()),
      events_(std::move(events)),
      generation_(runtime::fork_generation()),
      last_error_{Errc::unavailable, fmt::format("{}: not connected yet", peer_)} {}

void Connection::Shared::make_session() {
  session_ = std::make_shared<Session>(runtime_, endpoint_, weak_from_this());
}

void Connection::Shared::start() { session_->start(); }

bool Connection::Shared::is_of_a_parent() const {
  return generation_ != runtime::fork_generation();
}

void Connection::Shared::close() {
  const Lock lock(mutex_);
  state_ = State::closed;
  last_error_ = {Errc::unavailable,
                 fmt::format("{}: the connection was closed by this program", peer_)};
  runtime_->post([self = shared_from_this()] { self->end(); });
}

void Connection::Shared::end() {
  session_->close();
  Lock lock(mutex_);
  link_.reset();
  const auto sent = pipeline_.lose_line();
  const auto unsent = pipeline_.drain();
  if (const auto watch = std::exchange(watch_, runtime::TimerId::none);
      watch != runtime::TimerId::none) {
    runtime_->cancel(watch);
  }
  const auto waited = std::exchange(waiting_for_connection_, {});
  const Error closed = last_error_;
  lock.unlock();
  answer_all(sent, {Errc::outcome_unknown, closed.message});
  answer_all(unsent, closed);
  notify_all(waited);
}

bool Connection::Shared::is_open() const {
  const Lock lock(mutex_);
  return state_ != State::closed;
}

bool Connection::Shared::begin(Call& call, StopWatch& watch, std::stop_token stop) {
  // Once the call is in the pipeline and the lock is free, the caller's coroutine may go on and
  // take its hold on this object with it.
  const auto self = shared_from_this();
  const auto now = runtime_->now();
  Lock lock(mutex_);
  if (auto refused = refuse(call, now, stop)) {
    call.answer = std::unexpected(std::move(*refused));
    return false;
  }
  if (call.only_if_prepared && state_ == State::up && !is_prepared_) {
    call.answer = Reply{};
    return false;
  }
  pipeline_.add(call);
  if (stop.stop_possible()) watch.emplace(std::move(stop), GiveUp{self, call.ticket});
  // On a connection that is up the watch ends a call that has time enough.
  const bool is_watched = state_ == State::up && call.deadline >= now + between_looks;
  if (!is_watched) set_timer(call);
  if (state_ == State::up) flush(lock);
  return true;
}

std::optional<Error> Connection::Shared::refuse(const Call& call, LocalTime now,
                                                const std::stop_token& stop) const {
  if (state_ == State::closed || state_ == State::backing_off) return last_error_;
  if (stop.stop_requested()) {
    return Error{Errc::cancelled, fmt::format("{}: cancelled before it was sent", peer_)};
  }
  if (call.deadline <= now) {
    return Error{Errc::unavailable, fmt::format("{}: no time left to send", peer_)};
  }
  if (pipeline_.size() >= most_calls) {
    return Error{Errc::unavailable, fmt::format("{}: too many commands are under way", peer_)};
  }
  return std::nullopt;
}

void Connection::Shared::set_timer(Call& call) {
  if (call.deadline == LocalTime::max() || call.timer != runtime::TimerId::none) return;
  call.timer = runtime_->schedule(call.deadline, [weak = weak_from_this(), ticket = call.ticket] {
    if (const auto self = weak.lock()) self->give_up(ticket, Why::deadline);
  });
}

void Connection::Shared::forget_timer(const Call& call) {
  if (call.timer != runtime::TimerId::none) runtime_->cancel(call.timer);
}

// The stopping thread may hold locks of its own, and destroying the stop callback waits for this.
void Connection::Shared::GiveUp::operator()() const {
  shared->runtime_->post(
      [shared = shared, ticket = ticket] { shared->give_up(ticket, Why::stop); });
}

void Connection::Shared::give_up(std::uint64_t ticket, Why why) {
  Lock lock(mutex_);
  const auto [call, may_have_happened] = pipeline_.give_up(ticket);
  const std::string last = state_ == State::up ? "" : " (" + last_error_.message + ")";
  lock.unlock();
  if (!call) return;
  const bool is_late = why == Why::deadline;
  if (may_have_happened) {
    call->answer =
        fail(Errc::outcome_unknown, fmt::format("{}: {} before the reply came", peer_,
                                                is_late ? "the deadline passed" : "cancelled"));
  } else {
    call->answer = fail(is_late ? Errc::unavailable : Errc::cancelled,
                        fmt::format("{}: {} before it was sent{}", peer_,
                                    is_late ? "the deadline passed" : "cancelled", last));
  }
  call->waiter.resume();
}

void Connection::Shared::reconnect(Error why) {
  if (runtime_->on_own_thread()) return session_->drop(std::move(why), true);
  const Lock lock(mutex_);
  runtime_->post([self = shared_from_this(), link = link_, why = std::move(why)] {
    Lock inner(self->mutex_);
    // By now it may be another server that would be turned down.
    if (self->link_ != link) return;
    inner.unlock();
    self->session_->drop(why, true);
  });
}

bool Connection::Shared::is_connected() const {
  const Lock lock(mutex_);
  return state_ == State::up;
}

std::shared_ptr<runtime::Event> Connection::Shared::wait_for_connection() {
  const Lock lock(mutex_);
  if (state_ == State::up || state_ == State::closed) return nullptr;
  return waiting_for_connection_.emplace_back(std::make_shared<runtime::Event>(runtime_));
}

void Connection::Shared::forget(const std::shared_ptr<runtime::Event>& event) {
  const Lock lock(mutex_);
  std::erase(waiting_for_connection_, event);
}

Error Connection::Shared::last_error() const {
  const Lock lock(mutex_);
  return last_error_;
}

void Connection::Shared::set_prepared(bool is_prepared) {
  const Lock lock(mutex_);
  is_prepared_ = is_prepared;
}

void Connection::Shared::connecting() {
  const Lock lock(mutex_);
  is_prepared_ = false;
  if (state_ != State::closed) state_ = State::connecting;
}

Opening Connection::Shared::greeting() {
  Opening opening;
  if (!events_.greeting || !is_open()) return opening;
  for (const std::string& command : events_.greeting()) {
    opening.bytes += command;
    ++opening.replies;
  }
  return opening;
}

Result<void> Connection::Shared::greeted(std::vector<Reply> replies) {
  if (events_.greeted && is_open()) events_.greeted(std::move(replies));
  return {};
}

void Connection::Shared::came_up(std::shared_ptr<Link> link) {
  Lock lock(mutex_);
  if (state_ == State::closed) return;
  state_ = State::up;
  link_ = std::move(link);
  const auto waited = std::exchange(waiting_for_connection_, {});
  is_suspected_ = false;
  heard_at_ = runtime_->now();
  write_out(lock);
  lock.unlock();
  notify_all(waited);
}

void Connection::Shared::heard() {
  const Lock lock(mutex_);
  heard_at_ = runtime_->now();
}

Result<void> Connection::Shared::received(std::vector<Reply>& replies) {
  bool all_expected = true;
  Lock lock(mutex_);
  heard_at_ = runtime_->now();
  for (Reply& reply : replies) {
    const auto [is_expected, call] = pipeline_.match();
    all_expected &= is_expected;
    if (!call) continue;
    call->answer = std::move(reply);
    done_.push_back(call);
  }
  lock.unlock();
  for (Call* call : done_) call->waiter.resume();
  done_.clear();
  if (!all_expected) {
    return std::unexpected(session_->error("the server sent a reply that nobody asked for"));
  }
  return {};
}

void Connection::Shared::went_down(const Error& why) {
  Lock lock(mutex_);
  if (state_ == State::closed) return;
  state_ = State::connecting;
  last_error_ = why;
  link_.reset();
  const auto sent = pipeline_.lose_line();
  // Those that wait again may wait for longer than a stall.
  for (Call* call : pipeline_.waiting()) set_timer(*call);
  lock.unlock();
  if (events_.dropped) events_.dropped(why);
  answer_all(sent, {Errc::outcome_unknown,
                    fmt::format("{} (before the reply to this command came)", why.message)});
}

void Connection::Shared::backing_off(const Error& why) {
  Lock lock(mutex_);
  if (state_ == State::closed) return;
  state_ = State::backing_off;
  last_error_ = why;
  const auto unsent = pipeline_.drain();
  lock.unlock();
  answer_all(unsent, {Errc::unavailable, why.message});
}

}  // namespace holdfast::net::resp
