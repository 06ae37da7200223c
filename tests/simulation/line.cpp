// SPDX-License-Identifier: Apache-2.0
#include "simulation/line.hpp"

#include "client/held_lease.hpp"
#include "runtime/spawn.hpp"
#include "simulation/step_world.hpp"

#include <algorithm>
#include <stop_token>
#include <utility>

namespace holdfast::simulation {

Line::Line(history::ProcessId id, std::shared_ptr<Process> process, const Plan& plan,
           Recorder& recorder, Carrier& carrier)
    : id_(id),
      process_(std::move(process)),
      plan_(plan),
      recorder_(recorder),
      carrier_(&carrier),
      mailbox_(process_),
      calls_(*process_, [this](CallId call) {
        const Errc code = carrier_->was_sent(id_, call) ? Errc::outcome_unknown : Errc::unavailable;
        calls_.end(call, fail(code, "no answer in time"));
        carrier_->heard_nothing(id_, call);
      }) {
  mailbox_.on_unwanted([this](const LockName& name, const OwnerId& owner, model::RequestId which) {
    give_back(name, owner, which);
  });
}

Line::Line(history::ProcessId id, std::shared_ptr<Process> process, const Plan& plan,
           Recorder& recorder, std::shared_ptr<store::Store> store)
    : id_(id),
      process_(std::move(process)),
      plan_(plan),
      recorder_(recorder),
      store_(std::move(store)),
      mailbox_(process_),
      calls_(*process_, [](CallId) {}) {}

Task<Result<store::Reply>> Line::apply(store::Request request) {
  if (gone_) co_return fail(Errc::unavailable, "the process is gone");
  const auto& command = std::get<model::LockCommand>(request.command);
  const auto* renew = std::get_if<model::Renew>(&command.verb);
  const auto* acquire = std::get_if<model::Acquire>(&command.verb);
  const OpId renewed = renew ? recorder_.op_of(renew->request) : 0;
  const OpId asked = acquire ? recorder_.op_of(acquire->request) : 0;
  const Time sent = process_->from_local(process_->now());
  note_sent(command);
  if (const OpId op = renewed != 0 ? renewed : asked; op != 0) recorder_.asked_for(op) = sent;
  const auto store = store_;
  auto sending = store ? store->apply(std::move(request)) : send(std::move(request));
  Result<store::Reply> reply = co_await std::move(sending);
  note_answered(renewed, asked, sent, reply);
  co_return reply;
}

Task<Result<store::Reply>> Line::send(store::Request request) {
  Calls::Call call(calls_, request.deadline);
  const std::stop_callback on_stop(request.stop, [this, id = call.id()] {
    process_->post([this, id] { calls_.end_unknown(id, "cancelled on its way"); });
  });
  carrier_->carry(id_, call.id(), std::move(request));
  co_return co_await call;
}

Result<std::unique_ptr<store::Listening>> Line::listen(const LockName& name, const OwnerId& owner,
                                                       model::RequestId request) {
  if (store_) return store_->listen(name, owner, request);
  return mailbox_.listen(request, address(request));
}

Task<Result<LockPage>> Line::list(store::ListRequest) {
  return Task<Result<LockPage>>(fail(Errc::unsupported, "nobody lists here"));
}

void Line::changed() {
  if (gone_) return;
  constexpr bool store_changed = true;
  mailbox_.hint_all(store_changed);
  if (on_change_) on_change_();
}

void Line::hang_up() {
  gone_ = true;
  break_connection();
  store_.reset();
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
  runtime::spawn(
      apply(return_of_grant(name, owner, request, process_->now() + client::command_timeout)));
}

}  // namespace holdfast::simulation
