// SPDX-License-Identifier: Apache-2.0
#include "simulation/quorum/line.hpp"

#include "client/core.hpp"
#include "runtime/spawn.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stop_token>
#include <utility>

namespace holdfast::simulation::quorum {

// A command on its way. Lives in the frame of the coroutine that waits for it.
class Line::Call {
 public:
  Call(Line& line, runtime::LocalTime deadline) : line_(line), id_(++line.last_call_) {
    line_.calls_.push_back(this);
    timer_ = line_.process_->schedule(deadline, [&line, id = id_] { line.hear_nothing(id); });
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call() {
    std::erase(line_.calls_, this);
    line_.process_->cancel(timer_);
  }

  CallId id() const { return id_; }
  bool await_ready() const noexcept { return reply_.has_value(); }
  void await_suspend(std::coroutine_handle<> waiter) noexcept { waiter_ = waiter; }
  Result<store::Reply> await_resume() { return std::move(*reply_); }

  bool is_ended() const { return reply_.has_value(); }
  void end(Result<store::Reply> reply) {
    if (reply_) return;
    reply_.emplace(std::move(reply));
    if (waiter_) std::exchange(waiter_, {}).resume();
  }

 private:
  Line& line_;
  const CallId id_;
  runtime::TimerId timer_{};
  std::optional<Result<store::Reply>> reply_;
  std::coroutine_handle<> waiter_;
};

Line::Line(LineId id, std::shared_ptr<Process> process, Carrier& carrier)
    : id_(id), process_(std::move(process)), carrier_(carrier), mailbox_(process_) {
  mailbox_.on_unwanted([this](const LockName& name, const OwnerId& owner, model::RequestId which) {
    give_back(name, owner, which);
  });
}

std::string Line::describe() const { return fmt::format("member {}", id_.member + 1); }

Task<Result<store::Reply>> Line::apply(store::Request request) {
  if (gone_) co_return fail(Errc::unavailable, "the process is gone");
  Call call(*this, request.deadline);
  const std::stop_callback on_stop(request.stop, [this, id = call.id()] {
    process_->post([this, id] { end(id, fail(Errc::outcome_unknown, "cancelled on its way")); });
  });
  carrier_.carry(id_, {call.id(), connection_, run_, std::move(request)});
  Result<store::Reply> reply = co_await call;
  co_return reply;
}

Result<std::unique_ptr<store::Listening>> Line::listen(const LockName&, const OwnerId&,
                                                       model::RequestId request) {
  return mailbox_.listen(request, model::ProcessId{id_.client + 1});
}

Task<Result<LockPage>> Line::list(store::ListRequest) {
  return Task<Result<LockPage>>(fail(Errc::unsupported, "nobody lists here"));
}

bool Line::waits_for(CallId call) const {
  return std::ranges::any_of(
      calls_, [call](const Call* each) { return each->id() == call && !each->is_ended(); });
}

void Line::end(CallId call, Result<store::Reply> reply) {
  const auto waiting = std::ranges::find(calls_, call, &Call::id);
  if (waiting != calls_.end()) (*waiting)->end(std::move(reply));
}

void Line::hear_nothing(CallId call) {
  end(call, fail(Errc::outcome_unknown, "no answer in time"));
  if (carrier_.gives_up_on_silence()) break_connection();
}

void Line::answer(std::uint32_t connection, const Identity& who, CallId call,
                  Result<store::Reply> reply) {
  if (connection != connection_) return;
  meet(who);
  end(call, std::move(reply));
}

void Line::refused(std::uint32_t connection, CallId call, Errc code) {
  if (connection != connection_) return;
  end(call, fail(code, "connection refused"));
  break_connection();
}

// The first reply of a connection tells who is there, before anybody reads it.
void Line::meet(const Identity& who) {
  if (run_ == who.run) return;
  run_ = who.run;
  std::string server = fmt::format("{}.{}", id_.member + 1, who.run);
  const bool is_another_connection = std::exchange(was_connected_, true);
  if (server != standing_.server) {
    const auto at = process_->now();
    if (!standing_.server.empty()) standing_.replaced_at = at;
    standing_.server = std::move(server);
    standing_.place = "0";
    // In whole seconds, as a Redis tells it.
    standing_.up_since = at - std::chrono::seconds(who.up_for / second);
    standing_.keeps_memory = who.keeps_memory;
  }
  if (!is_another_connection) return;
  for (std::size_t i = 0; i < on_change_.size(); ++i) on_change_[i]();
}

void Line::break_connection() {
  ++connection_;
  run_ = 0;
  // Ending one call may start another.
  std::vector<CallId> in_flight;
  for (const Call* call : calls_) in_flight.push_back(call->id());
  for (const CallId call : in_flight) end(call, fail(Errc::outcome_unknown, "connection reset"));
}

void Line::hang_up() {
  gone_ = true;
  break_connection();
}

void Line::give_back(const LockName& name, const OwnerId& owner, model::RequestId request) {
  store::Request release{
      .name = name,
      .command = model::LockCommand{.spec = {}, .verb = model::Release{owner, request, true}},
      .deadline = process_->now() + client::command_timeout};
  runtime::spawn(apply(std::move(release)));
}

}  // namespace holdfast::simulation::quorum
