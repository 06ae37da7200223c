// SPDX-License-Identifier: Apache-2.0
#include "server/metrics/measured_store.hpp"

#include <functional>
#include <mutex>
#include <vector>

namespace holdfast::server {

namespace {

using runtime::LocalClock;
using runtime::LocalTime;
using store::Reply;
using store::Request;

void note(StoreMetrics& metrics, LocalTime began, const Result<Reply>& reply) {
  metrics.latency.add(std::chrono::floor<Histogram::Time>(LocalClock::now() - began));
  metrics.commands.add(reply ? std::nullopt : std::optional(reply.error().code));
}

// A store is told of one listener; here there may be several.
class Changed {
 public:
  void add(std::function<void()> callback) {
    const std::lock_guard lock(mutex_);
    callbacks_.push_back(std::move(callback));
  }
  void tell() {
    std::vector<std::function<void()>> callbacks;
    {
      const std::lock_guard lock(mutex_);
      callbacks = callbacks_;
    }
    for (const auto& each : callbacks) each();
  }

 private:
  std::mutex mutex_;
  std::vector<std::function<void()>> callbacks_;  // guarded by mutex_
};

class MeasuredStore final : public store::Store {
 public:
  MeasuredStore(std::shared_ptr<Store> store, std::shared_ptr<StoreMetrics> metrics)
      : store_(std::move(store)), metrics_(std::move(metrics)) {
    store_->on_change([metrics = metrics_, changed = changed_] {
      metrics->changes.add();
      changed->tell();
    });
  }

  Task<Result<Reply>> apply(Request request) override {
    const LocalTime began = LocalClock::now();
    auto task = store_->apply(std::move(request));
    if (!task.is_ready()) return later(metrics_, began, std::move(task));
    return Task<Result<Reply>>(std::in_place, [&] {
      auto reply = task.take_ready();
      note(*metrics_, began, reply);
      return reply;
    });
  }

  Result<std::unique_ptr<store::Listening>> listen(const LockName& name, const OwnerId& owner,
                                                   model::RequestId request) override {
    return store_->listen(name, owner, request);
  }
  Task<Result<LockPage>> list(store::ListRequest request) override {
    return store_->list(std::move(request));
  }
  Task<Result<std::vector<LockEvent>>> history(LockName name, std::uint32_t limit,
                                               LocalTime deadline) override {
    return store_->history(std::move(name), limit, deadline);
  }
  Result<void> supports(const model::LockSpec& spec) const override {
    return store_->supports(spec);
  }
  store::Capabilities capabilities() const override { return store_->capabilities(); }
  void on_change(std::function<void()> callback) override { changed_->add(std::move(callback)); }
  LocalTime known_since() const override { return store_->known_since(); }
  Task<Result<std::vector<std::string>>> diagnose(LocalTime deadline) override {
    return store_->diagnose(deadline);
  }
  Task<Result<Micros>> clock_offset(LocalTime deadline) override {
    return store_->clock_offset(deadline);
  }
  OwnerId fresh_owner(runtime::Runtime& runtime) const override {
    return store_->fresh_owner(runtime);
  }
  std::string describe() const override { return store_->describe(); }

 private:
  static Task<Result<Reply>> later(std::shared_ptr<StoreMetrics> metrics, LocalTime began,
                                   Task<Result<Reply>> task) {
    Result<Reply> reply = co_await std::move(task);
    note(*metrics, began, reply);
    co_return reply;
  }

  const std::shared_ptr<Store> store_;
  const std::shared_ptr<StoreMetrics> metrics_;
  const std::shared_ptr<Changed> changed_ = std::make_shared<Changed>();
};

}  // namespace

std::shared_ptr<store::Store> measured(std::shared_ptr<store::Store> store,
                                       std::shared_ptr<StoreMetrics> metrics) {
  return std::make_shared<MeasuredStore>(std::move(store), std::move(metrics));
}

}  // namespace holdfast::server
