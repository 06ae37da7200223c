// SPDX-License-Identifier: Apache-2.0
#include "backends/quorum/ear.hpp"

#include "runtime/spawn.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::backends::quorum {

using store::Listening;
using store::Notice;

namespace {

// Well below the time after which a queue that nobody asks about is forgotten.
constexpr auto register_every = model::limits::queue_ttl * 2 / 5;

}  // namespace

Ear::Ear(std::shared_ptr<runtime::Runtime> runtime, model::ProcessId process)
    : process_(process), runtime_(std::move(runtime)), event_(runtime_) {}

Task<Notice> Ear::next(std::shared_ptr<Ear> ear, LocalTime deadline) {
  for (;;) {
    LocalTime until = deadline;
    {
      const std::lock_guard lock(ear->mutex_);
      const LocalTime now = ear->runtime_->now();
      if (std::exchange(ear->is_poked_, false)) co_return Notice{Notice::Reason::poked, {}};
      if (ear->is_hinted_ && now >= ear->quiet_until_) {
        ear->is_hinted_ = false;
        co_return Notice{Notice::Reason::hint, {}};
      }
      if (now >= deadline) co_return Notice{Notice::Reason::deadline, {}};
      if (ear->is_hinted_) until = std::min(deadline, ear->quiet_until_);
    }
    co_await ear->event_.wait_until(until);
  }
}

void Ear::poke() {
  {
    const std::lock_guard lock(mutex_);
    is_poked_ = true;
  }
  event_.notify();
}

// Not inside the call, which may be another waiter's way of giving something back: each would wake
// the next on the same stack.
void Ear::hint() {
  {
    const std::lock_guard lock(mutex_);
    is_hinted_ = true;
  }
  runtime_->post([self = shared_from_this()] { self->event_.notify(); });
}

bool Ear::must_register(LocalTime now, bool every_time) {
  const std::lock_guard lock(mutex_);
  if (!std::exchange(has_asked_, true)) return false;
  if (every_time) return true;
  return request_ == model::RequestId::any || now >= registered_at_ + register_every;
}

Task<bool> Ear::forward(std::shared_ptr<Listening> from, std::weak_ptr<Ear> to) {
  for (;;) {
    auto listening = from->next(LocalTime::max());
    const Notice notice = co_await std::move(listening);
    const auto ear = to.lock();
    if (!ear || notice.reason == Notice::Reason::poked) co_return true;
    ear->hint();
  }
}

void Ear::register_as(const Members& members, const LockName& name, const OwnerId& owner,
                      model::RequestId request, LocalTime now) {
  Ears ears;
  for (const auto& member : members) {
    auto listening = member->store->listen(name, owner, request);
    ears.push_back(listening ? std::move(*listening) : nullptr);
  }
  {
    const std::lock_guard lock(mutex_);
    request_ = request;
    registered_at_ = now;
    ears_ = ears;
    places_.resize(members.size());
    in_line_.assign(members.size(), false);
  }
  for (auto& ear : ears) {
    if (ear) runtime::spawn(forward(std::move(ear), weak_from_this()));
  }
}

void Ear::adapt(std::size_t member, model::Acquire& acquire) const {
  const std::lock_guard lock(mutex_);
  const auto& ear = ears_[member];
  acquire.wait = ear != nullptr;
  acquire.process = ear ? ear->process() : model::ProcessId::none;
  acquire.place = places_[member];
}

void Ear::stands_in_line(std::size_t member, model::RequestId request, std::uint64_t place) {
  const std::lock_guard lock(mutex_);
  if (request != request_) return;
  places_[member] = place;
  in_line_[member] = true;
}

Ear::Place Ear::unregister() {
  Ears ears;
  Place place;
  {
    const std::lock_guard lock(mutex_);
    ears.swap(ears_);
    place.request = std::exchange(request_, model::RequestId::any);
    for (std::size_t at = 0; at < in_line_.size(); ++at) {
      if (in_line_[at]) place.members.push_back(at);
    }
    in_line_.clear();
  }
  for (const auto& ear : ears) {
    if (ear) ear->poke();
  }
  return place;
}

Micros Ear::stand_back(LocalTime now, Micros round, Micros most, std::uint64_t random) {
  const std::lock_guard lock(mutex_);
  constexpr unsigned most_doublings = 8;
  const Micros span = std::clamp<Micros>(2 * round * (1U << std::min(rivalries_++, most_doublings)),
                                         Micros(1000), std::max(most, Micros(1000)));
  const Micros pause(static_cast<std::int64_t>(random % static_cast<std::uint64_t>(span.count())));
  quiet_until_ = now + pause;
  return pause;
}

void Ear::met_no_rival() {
  const std::lock_guard lock(mutex_);
  rivalries_ = 0;
}

}  // namespace holdfast::backends::quorum
