// SPDX-License-Identifier: Apache-2.0
#include "support/fault_ear.hpp"

#include <utility>

namespace holdfast::test {

using store::Notice;

FaultEar::FaultEar(std::shared_ptr<FaultStore> store, LockName name, OwnerId owner,
                   model::RequestId request, std::shared_ptr<store::Listening> inner)
    : store_(std::move(store)),
      name_(std::move(name)),
      owner_(std::move(owner)),
      request_(request),
      inner_(std::move(inner)) {}

Task<Notice> FaultEar::next(store::LocalTime deadline) {
  const auto self = shared_from_this();
  while (true) {
    if (const auto notice = take()) co_return *notice;
    const auto ear = inner();
    auto hearing = ear->next(deadline);
    const Notice notice = co_await std::move(hearing);
    if (notice.reason == Notice::Reason::deadline) co_return take().value_or(notice);
    if (notice.reason != Notice::Reason::poked) receive(notice);
  }
}

void FaultEar::poke() {
  {
    const std::lock_guard lock(mutex_);
    poked_ = true;
  }
  inner()->poke();
}

model::ProcessId FaultEar::process() const { return inner()->process(); }

void FaultEar::receive(const Notice& notice) {
  const auto delay = store_->fate_of_notice();
  if (!delay) return;
  if (*delay == Micros::zero()) return arrive(notice);
  store_->runtime_->schedule(store_->runtime_->now() + *delay, [weak = weak_from_this(), notice] {
    if (const auto ear = weak.lock()) ear->arrive(notice);
  });
}

void FaultEar::arrive(const Notice& notice) {
  const bool held_up = store_->paused();
  {
    const std::lock_guard lock(mutex_);
    (held_up ? held_up_ : arrived_).push_back(notice);
  }
  if (!held_up) inner()->poke();
}

void FaultEar::resume() {
  {
    const std::lock_guard lock(mutex_);
    if (held_up_.empty()) return;
    arrived_.insert(arrived_.end(), held_up_.begin(), held_up_.end());
    held_up_.clear();
  }
  inner()->poke();
}

void FaultEar::listen_anew(store::Store& at) {
  auto anew = at.listen(name_, owner_, request_);
  if (!anew) return;
  std::shared_ptr<store::Listening> before;
  {
    const std::lock_guard lock(mutex_);
    before = std::exchange(inner_, std::shared_ptr<store::Listening>(std::move(*anew)));
    arrived_.push_back({Notice::Reason::hint, {}});
  }
  before->poke();
}

std::optional<Notice> FaultEar::take() {
  const std::lock_guard lock(mutex_);
  if (!arrived_.empty()) {
    const Notice notice = arrived_.front();
    arrived_.pop_front();
    return notice;
  }
  if (std::exchange(poked_, false)) return Notice{Notice::Reason::poked, {}};
  return std::nullopt;
}

std::shared_ptr<store::Listening> FaultEar::inner() const {
  const std::lock_guard lock(mutex_);
  return inner_;
}

}  // namespace holdfast::test
