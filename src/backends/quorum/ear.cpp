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

void Ear::hint() {
  {
    const std::lock_guard lock(mutex_);
    is_hinted_ = true;
  }
  event_.notify();
}

bool Ear::must_register(LocalTime now) const {
  const std::lock_guard lock(mutex_);
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

void Ear::learned_place(std::size_t member, std::uint64_t place) {
  const std::lock_guard lock(mutex_);
  places_[member] = place;
}

model::RequestId Ear::unregister() {
  Ears ears;
  model::RequestId request{};
  {
    const std::lock_guard lock(mutex_);
    ears.swap(ears_);
    request = std::exchange(request_, model::RequestId::any);
  }
  for (const auto& ear : ears) {
    if (ear) ear->poke();
  }
  return request;
}

Micros Ear::stand_back(LocalTime now, Micros round, Micros most, std::uint64_t random) {
  const std::lock_guard lock(mutex_);
  constexpr unsigned most_doublings = 8;
  const Micros span = std::clamp<Micros>(
      2 * round * (1U << std::min(rivalries_++, most_doublings)), Micros(1000), std::max(most, Micros(1000)));
  const Micros pause(static_cast<std::int64_t>(random % static_cast<std::uint64_t>(span.count())));
  quiet_until_ = now + pause;
  return pause;
}

void Ear::met_no_rival() {
  const std::lock_guard lock(mutex_);
  rivalries_ = 0;
}

}  // namespace holdfast::backends::quorum
