// SPDX-License-Identifier: Apache-2.0
//
// A store that tells which server it is, as a test says, in front of one that does the work.
#pragma once

#include "store/store.hpp"

#include <utility>

namespace holdfast::test {

class KnownStore final : public store::Store {
 public:
  explicit KnownStore(std::shared_ptr<store::Store> inner) : inner_(std::move(inner)) {}

  // As a server that is met anew would be told of.
  void is_now(store::Standing standing) {
    standing_ = std::move(standing);
    if (changed_) changed_();
  }
  // What it is, without that anybody is told.
  void set_standing(store::Standing standing) { standing_ = std::move(standing); }
  void set_history(Result<std::vector<LockEvent>> events) { events_ = std::move(events); }
  void set_offset(Result<Micros> offset) { offset_ = std::move(offset); }
  void set_unsupported(std::optional<Kind> kind) { unsupported_ = kind; }
  unsigned histories = 0;

  Task<Result<store::Reply>> apply(store::Request request) override {
    return inner_->apply(std::move(request));
  }
  Result<std::unique_ptr<store::Listening>> listen(const LockName& name, const OwnerId& owner,
                                                   model::RequestId request) override {
    return inner_->listen(name, owner, request);
  }
  Task<Result<LockPage>> list(store::ListRequest request) override {
    return inner_->list(std::move(request));
  }
  Task<Result<std::vector<LockEvent>>> history(LockName, std::uint32_t, store::LocalTime) override {
    ++histories;
    return Task<Result<std::vector<LockEvent>>>(Result<std::vector<LockEvent>>(events_));
  }
  Result<void> supports(const model::LockSpec& spec) const override {
    if (spec.kind == unsupported_) return fail(Errc::unsupported, "not this kind");
    return inner_->supports(spec);
  }
  store::Capabilities capabilities() const override { return inner_->capabilities(); }
  void on_change(std::function<void()> changed) override { changed_ = std::move(changed); }
  store::Standing standing() const override { return standing_; }
  Task<Result<Micros>> clock_offset(store::LocalTime) override {
    return Task<Result<Micros>>(Result<Micros>(offset_));
  }
  std::string describe() const override { return inner_->describe(); }

 private:
  const std::shared_ptr<store::Store> inner_;
  store::Standing standing_;
  std::function<void()> changed_;
  Result<std::vector<LockEvent>> events_ = std::vector<LockEvent>{};
  Result<Micros> offset_ = Micros::zero();
  std::optional<Kind> unsupported_;
};

}  // namespace holdfast::test
