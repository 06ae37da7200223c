// SPDX-License-Identifier: Apache-2.0
#include "server/store_probe.hpp"

namespace holdfast::server {

namespace {

constexpr auto kept_for = std::chrono::milliseconds(100);
constexpr auto patience = std::chrono::milliseconds(500);
// For whoever waits for another's question: the store keeps its deadline, and a little more.
constexpr auto waits_for = patience + std::chrono::milliseconds(100);
constexpr std::string_view nobodys_lock = "holdfast:health";

}  // namespace

Task<StoreProbe::Health> StoreProbe::look() {
  const std::lock_guard lock(mutex_);
  if (is_asking_) {
    waiting_.push_back(std::make_shared<runtime::Event>(core_->shared_runtime()));
    return wait_for_another(waiting_.back());
  }
  const auto now = core_->runtime().now();
  if (newest_ && now - asked_at_ < kept_for) return Task<Health>(*newest_);
  is_asking_ = true;
  asked_at_ = now;
  return ask();
}

Task<StoreProbe::Health> StoreProbe::ask() {
  const auto before = core_->runtime().now();
  store::Request request{.name = *LockName::make(nobodys_lock),
                         .command = model::LockCommand{{}, model::Inspect{}},
                         .deadline = before + patience};
  auto asking = core_->store().apply(std::move(request));
  const Result<store::Reply> reply = co_await std::move(asking);
  const auto took = std::chrono::floor<Micros>(core_->runtime().now() - before);
  Health health = took;
  if (!reply) health = std::unexpected(reply.error());
  tell(health);
  co_return health;
}

void StoreProbe::tell(const Health& health) {
  std::unique_lock lock(mutex_);
  newest_ = health;
  is_asking_ = false;
  const auto waiting = std::move(waiting_);
  waiting_.clear();
  lock.unlock();
  for (const auto& alarm : waiting) alarm->notify();
}

Task<StoreProbe::Health> StoreProbe::wait_for_another(Alarm alarm) {
  const bool was_told = co_await alarm->wait_until(core_->runtime().now() + waits_for);
  if (!was_told) co_return fail(Errc::unavailable, "the store does not answer");
  const std::lock_guard lock(mutex_);
  co_return *newest_;
}

}  // namespace holdfast::server
