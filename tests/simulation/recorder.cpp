// SPDX-License-Identifier: Apache-2.0
#include "simulation/recorder.hpp"

#include <algorithm>

namespace holdfast::simulation {

void Recorder::begin(const Plan& plan) {
  history.events.reserve(4096);
  history.attempts.reserve(512);
  for (const LockPlan& lock : plan.locks) history.names.push_back(lock.name.str());
}

OpId Recorder::asked(const Attempt& attempt, const OwnerId& owner) {
  history.attempts.push_back(attempt);
  owners_.push_back(owner);
  const auto op = static_cast<OpId>(history.attempts.size());
  add(What::asked, op);
  return op;
}

Event& Recorder::add(What what, OpId op) {
  Event& event = history.events.emplace_back();
  event.at = now_;
  event.what = what;
  event.op = op;
  if (op != 0) event.process = history.attempt(op).process;
  return event;
}

void Recorder::asked_for_less(OpId op, Micros ttl) {
  Time& least = history.attempts[op - 1].least_ttl;
  const Time wanted = std::chrono::nanoseconds(ttl).count();
  least = least == 0 ? wanted : std::min(least, wanted);
}

void Recorder::note_new_fence(Fence fence) {
  fences_went_back = fences_went_back || fence < largest_fence_;
  largest_fence_ = std::max(largest_fence_, fence);
}

Event& Recorder::fault(What what, history::ProcessId process, Time until) {
  ++faults;
  Event& event = add(what, 0);
  event.process = process;
  event.until = until;
  return event;
}

OpId Recorder::op_of(model::RequestId request) const {
  const auto number = std::to_underlying(request);
  if (number <= history.attempts.size()) return static_cast<OpId>(number);
  const auto stray = std::find_if(strays_.rbegin(), strays_.rend(),
                                  [&](const auto& known) { return known.first == request; });
  return stray == strays_.rend() ? 0 : stray->second;
}

OpId Recorder::op_of(const OwnerId& owner) const {
  const auto last = std::find(owners_.rbegin(), owners_.rend(), owner);
  return static_cast<OpId>(owners_.rend() - last);
}

OpId Recorder::op_of_adopted(const OwnerId& owner, Fence up_to) const {
  const auto last = std::find_if(adopted_.rbegin(), adopted_.rend(), [&](const Adopted& each) {
    return each.owner == owner && each.up_to <= up_to;
  });
  return last == adopted_.rend() ? 0 : last->op;
}

std::uint64_t Recorder::hash() const {
  std::uint64_t sum = history.events.size();
  const auto mix = [&sum](std::uint64_t value) {
    sum = (sum ^ value) * 0x9fb21c651e98df25U;
    sum ^= sum >> 32;
  };
  for (const Event& event : history.events) {
    mix(static_cast<std::uint64_t>(event.at));
    mix(static_cast<std::uint64_t>(event.until));
    mix(static_cast<std::uint64_t>(event.since));
    mix(event.fence);
    mix(static_cast<std::uint64_t>(event.number));
    mix(std::uint64_t{event.op} << 32 | event.by);
    mix(std::uint64_t{event.name} << 32 | event.process);
    mix(std::uint64_t{std::to_underlying(event.what)} << 16 |
        std::uint64_t{std::to_underlying(event.detail)} << 8 | std::uint64_t{event.accepted} |
        std::uint64_t{event.claim} << 1 | std::uint64_t{event.delays} << 2);
  }
  return sum;
}

}  // namespace holdfast::simulation
