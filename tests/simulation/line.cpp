// SPDX-License-Identifier: Apache-2.0
#include "simulation/line.hpp"

#include "client/held_lease.hpp"
#include "runtime/spawn.hpp"

#include <algorithm>
#include <stop_token>
#include <utility>

namespace holdfast::simulation {

// A command on its way. Lives in the frame of the coroutine that waits for it.
class Line::Call {
 public:
  Call(Line& line, runtime::LocalTime deadline) : line_(line), id_(++line.last_call_) {
    line_.calls_.push_back(this);
    timer_ = line_.process_->schedule(deadline, [this] { end_unknown("no answer in time"); });
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

  void end(Result<store::Reply> reply) {
    if (reply_) return;
    reply_.emplace(std::move(reply));
    if (waiter_) std::exchange(waiter_, {}).resume();
  }
  void end_unknown(const char* why) { end(fail(Errc::outcome_unknown, why)); }

 private:
  Line& line_;
  const CallId id_;
  runtime::TimerId timer_{};
  std::optional<Result<store::Reply>> reply_;
  std::coroutine_handle<> waiter_;
};

Line::Line(history::ProcessId id, std::shared_ptr<Process> process, const Plan& plan,
           Recorder& recorder, Carrier& carrier)
    : id_(id),
      process_(std::move(process)),
      plan_(plan),
      recorder_(recorder),
      carrier_(carrier),
      mailbox_(process_) {
  mailbox_.on_unwanted([this](const LockName& name, const OwnerId& owner, model::RequestId which) {
    give_back(name, owner, which);
  });
}

Task<Result<store::Reply>> Line::apply(store::Request request) {
  if (gone_) co_return fail(Errc::unavailable, "the process is gone");
  const auto& command = std::get<model::LockCommand>(request.command);
  const auto* renew = std::get_if<model::Renew>(&command.verb);
  const auto* acquire = std::get_if<model::Acquire>(&command.verb);
  const OpId renewed = renew ? recorder_.op_of(renew->request) : 0;
  const OpId asked = acquire ? recorder_.op_of(acquire->request) : 0;
  const Time sent = process_->from_local(process_->now());
  note_sent(command);
  Call call(*this, request.deadline);
  const std::stop_callback on_stop(request.stop, [this, id = call.id()] {
    process_->post([this, id] { answer(id, fail(Errc::outcome_unknown, "cancelled on its way")); });
  });
  carrier_.carry(id_, call.id(), std::move(request));
  Result<store::Reply> reply = co_await call;
  note_answered(renewed, asked, sent, reply);
  co_return reply;
}

Result<std::unique_ptr<store::Listening>> Line::listen(const LockName&, const OwnerId&,
                                                       model::RequestId request) {
  return mailbox_.listen(request, address(request));
}

Task<Result<LockPage>> Line::list(store::ListRequest) {
  return Task<Result<LockPage>>(fail(Errc::unsupported, "nobody lists here"));
}

void Line::answer(CallId call, Result<store::Reply> reply) {
  const auto waiting = std::find_if(calls_.begin(), calls_.end(),
                                    [call](const Call* each) { return each->id() == call; });
  // A late or second reply finds nobody: its connection would have been dropped.
  if (waiting != calls_.end()) (*waiting)->end(std::move(reply));
}

void Line::break_connection() {
  // Ending one call may start another.
  std::vector<CallId> in_flight;
  for (const Call* call : calls_) in_flight.push_back(call->id());
  for (const CallId call : in_flight) answer(call, fail(Errc::outcome_unknown, "connection reset"));
}

void Line::hang_up() {
  gone_ = true;
  break_connection();
}

model::ProcessId Line::address(model::RequestId request) const {
  const std::uint64_t who = plan_.waiters_are_processes ? std::to_underlying(request) : 0;
  return model::ProcessId{std::uint64_t{id_} << 40 | (who & 0xff'ffff'ffff)};
}

history::ProcessId Line::process_of(model::ProcessId address) {
  return static_cast<history::ProcessId>(std::to_underlying(address) >> 40);
}

void Line::unwatch(OpId op) {
  std::erase_if(watched_, [op](const Watched& each) { return each.op == op; });
}

Line::Watched* Line::watched(OpId op) {
  const auto found = std::find_if(watched_.begin(), watched_.end(),
                                  [op](const Watched& each) { return each.op == op; });
  return found == watched_.end() ? nullptr : &*found;
}

void Line::note_sent(const model::LockCommand& command) {
  if (const auto* renew = std::get_if<model::Renew>(&command.verb)) {
    if (const OpId op = recorder_.op_of(renew->request)) recorder_.add(What::renewing, op);
  }
  const auto* acquire = std::get_if<model::Acquire>(&command.verb);
  if (!acquire || recorder_.op_of(acquire->request) != 0) return;
  // A request that no attempt began with: an upgrade's, or a repeated one that changed its name.
  if (acquire->converts == model::RequestId::any) {
    recorder_.belongs(acquire->request, recorder_.op_of(acquire->owner));
  } else if (const Watched* lease = watched(recorder_.op_of(acquire->converts))) {
    recorder_.belongs(acquire->request, lease->converting);
  }
}

void Line::note_answered(OpId renewed, OpId asked, Time sent, const Result<store::Reply>& reply) {
  if (!reply || gone_) return;
  const auto& outcome = std::get<model::LockOutcome>(reply->outcome);
  const auto* queued = std::get_if<model::Queued>(&outcome);
  if (asked != 0 && queued) recorder_.add(What::queued, asked).number = queued->place;
  const Watched* lease = renewed != 0 ? watched(renewed) : nullptr;
  if (!lease || !std::holds_alternative<model::Granted>(outcome)) return;
  // What the lease makes of it is known once the lease has heard it.
  const Fence fence = std::get<model::Granted>(outcome).fence;
  process_->post([this, renewed, sent, fence] {
    const Watched* heard = watched(renewed);
    if (!heard || gone_ || heard->lease->remaining() <= Micros::zero()) return;
    const Time now = process_->from_local(process_->now());
    const Time until = now + std::chrono::nanoseconds(heard->lease->remaining()).count();
    for (const OpId op : {heard->op, heard->upgraded}) {
      if (op == 0) continue;
      Event& event = recorder_.add(What::renewed, op);
      event.since = sent;
      event.until = until;
      event.fence = fence;
    }
  });
}

void Line::give_back(const LockName& name, const OwnerId& owner, model::RequestId request) {
  store::Request release{
      .name = name,
      .command = model::LockCommand{.spec = {}, .verb = model::Release{owner, request, true}},
      .deadline = process_->now() + client::command_timeout};
  runtime::spawn(apply(std::move(release)));
}

}  // namespace holdfast::simulation
