// SPDX-License-Identifier: Apache-2.0
#include "backends/remote/withdrawals.hpp"

#include "runtime/spawn.hpp"

namespace holdfast::backends::remote {

namespace {

constexpr Micros release_again_timeout = std::chrono::seconds(2);
// A server that answered a release has read by the next round whatever waited for it.
constexpr Micros between_rounds = std::chrono::seconds(2);
constexpr unsigned rounds_of_releases = 2;
constexpr unsigned max_releases = 30;
// How long a request that was never answered is remembered.
constexpr Micros late_acquire_time = std::chrono::seconds(60);

template <typename Verb>
const Verb* verb_in(const model::Command& command) {
  const auto* lock = std::get_if<model::LockCommand>(&command);
  return lock != nullptr ? std::get_if<Verb>(&lock->verb) : nullptr;
}

}  // namespace

void Withdrawals::sending(const LockName& name, const model::Command& command) {
  const auto* release = verb_in<model::Release>(command);
  // A lease that somebody else may have by the same request stays.
  if (release == nullptr || release->only_unconfirmed) return;
  if (!late_.released(name, *release)) return;
  release_later({name, release->owner, release->request}, {});
}

std::function<void(bool is_sure)> Withdrawals::end_of(const LockName& name,
                                                      const model::Command& command) {
  const auto* acquire = verb_in<model::Acquire>(command);
  if (acquire == nullptr) return {};
  Meant meant{name, acquire->owner, acquire->request};
  late_.sent(meant);
  return [weak = weak_from_this(), meant = std::move(meant)](bool is_sure) {
    if (const auto self = weak.lock()) self->settled(meant, is_sure);
  };
}

void Withdrawals::settled(const Meant& meant, bool is_sure) {
  auto [now, and_later] = late_.settled(meant, is_sure);
  if (now) runtime::spawn(release(*now));
  if (now && and_later) return release_later(meant, {});
  if (!and_later) return;
  runtime_->schedule(runtime_->now() + late_acquire_time, [weak = weak_from_this(), meant] {
    const auto self = weak.lock();
    if (self && !self->late_.later(meant)) self->late_.forget(meant);
  });
}

void Withdrawals::release_later(const Meant& meant, Rounds so_far) {
  runtime_->schedule(runtime_->now() + between_rounds, [weak = weak_from_this(), meant, so_far] {
    if (const auto self = weak.lock()) self->release_again(meant, so_far);
  });
}

void Withdrawals::release_again(const Meant& meant, Rounds so_far) {
  const auto again = late_.later(meant);
  const bool is_done = so_far.answered == rounds_of_releases || so_far.sent == max_releases;
  if (!again || is_done) return late_.forget(meant);
  ++so_far.sent;
  runtime::spawn(release(*again),
                 [weak = weak_from_this(), meant, so_far](Result<store::Reply>&& reply) mutable {
                   if (reply) ++so_far.answered;
                   if (const auto self = weak.lock()) self->release_later(meant, so_far);
                 });
}

Task<Result<store::Reply>> Withdrawals::release(LateAcquires::Again again) {
  model::LockCommand command{.spec = {}, .verb = std::move(again.release)};
  return send_({.name = std::move(again.name),
                .command = std::move(command),
                .deadline = runtime_->now() + release_again_timeout});
}

}  // namespace holdfast::backends::remote
