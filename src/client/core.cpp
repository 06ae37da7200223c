// SPDX-License-Identifier: Apache-2.0
#include "client/core.hpp"

#include "client/held_lease.hpp"
#include "runtime/fork.hpp"
#include "runtime/process_info.hpp"
#include "runtime/spawn.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace holdfast::client {

namespace {

constexpr std::size_t max_known_places = 1024;

// "report.cpp:42"; nothing for a location made from nothing.
std::string source_of(const std::source_location& where) {
  const std::string_view path = where.file_name();
  if (path.empty()) return {};
  const auto slash = path.rfind('/');
  return fmt::format("{}:{}", slash == std::string_view::npos ? path : path.substr(slash + 1),
                     where.line());
}

// After fork() the child has copies of what the parent began. They end in the parent, and a mutex
// of the tracer may be locked for ever in the child.
class InThisProcess final : public Tracer {
 public:
  explicit InThisProcess(std::shared_ptr<Tracer> tracer) : tracer_(std::move(tracer)) {}

  std::uint64_t start(std::string_view operation, TraceAttributes attributes) override {
    return tracer_->start(operation, attributes);
  }
  void end(std::uint64_t span, TraceAttributes attributes) override {
    if (generation_ == runtime::fork_generation()) tracer_->end(span, attributes);
  }

 private:
  const std::shared_ptr<Tracer> tracer_;
  const std::uint32_t generation_ = runtime::fork_generation();
};

}  // namespace

Core::Core(std::shared_ptr<store::Store> store, std::shared_ptr<runtime::Runtime> runtime,
           std::shared_ptr<const ProcessInfo> process)
    : store_(std::move(store)),
      runtime_(std::move(runtime)),
      process_(std::move(process)),
      generation_(runtime::fork_generation()),
      drift_{store_->capabilities().drift_ppm} {}

bool Core::is_ours() const { return generation_ == runtime::fork_generation(); }

Result<void> Core::may_block() const {
  if (!is_ours()) {
    return fail(Errc::unavailable,
                store_->describe() + " was opened before fork(): open it again in the child");
  }
  if (runtime_->on_own_thread()) {
    return fail(Errc::unsupported,
                "a blocking call inside a Holdfast callback would wait for itself: use another "
                "thread or async_acquire");
  }
  return {};
}

OwnerId Core::fresh_owner() const { return store_->fresh_owner(*runtime_); }

model::RequestId Core::fresh_request() const {
  model::RequestId request{};
  while (request == model::RequestId::any) request = model::RequestId{runtime_->random()};
  return request;
}

model::MetadataPtr Core::metadata(std::string_view note, std::string_view value,
                                  const std::source_location& where) {
  const auto describe = [&] {
    return std::make_shared<const Metadata>(Metadata{.process = process_,
                                                     .source = source_of(where),
                                                     .note = std::string(note),
                                                     .value = std::string(value)});
  };
  if (!note.empty() || !value.empty()) return describe();
  const std::lock_guard lock(mutex_);
  const auto place = std::pair(where.file_name(), where.line());
  const auto known = known_places_.find(place);
  if (known != known_places_.end()) return known->second;
  if (known_places_.size() >= max_known_places) known_places_.clear();
  return known_places_[place] = describe();
}

ClientMetrics Core::metrics() const {
  ClientMetrics metrics;
  if (!is_ours()) return metrics;  // a mutex of the parent's threads may be locked for ever here
  holdings_.count(metrics);
  counters_.count(metrics);
  metrics.lost = lost.load(std::memory_order_relaxed);
  metrics.unreleased = unreleased.load(std::memory_order_relaxed);
  return metrics;
}

void Core::trace_to(std::shared_ptr<Tracer> tracer) {
  if (!is_ours()) return;
  if (tracer) tracer = std::make_shared<InThisProcess>(std::move(tracer));
  std::unique_lock lock(mutex_);
  is_traced_.store(tracer != nullptr, std::memory_order_relaxed);
  tracer_.swap(tracer);
  lock.unlock();  // before the one that was there goes away
}

std::shared_ptr<Tracer> Core::tracer() {
  const std::lock_guard lock(mutex_);
  return tracer_;
}

void Core::watch(const std::shared_ptr<HeldLease>& lease, LocalTime asked) {
  if (!store_->capabilities().may_change) return;
  std::unique_lock lock(mutex_);
  if (leases_.size() >= sweep_at_) {
    std::erase_if(leases_, [](const auto& each) { return each.expired(); });
    sweep_at_ = std::max<std::size_t>(64, 2 * leases_.size());
  }
  leases_.push_back(lease);
  const LocalTime since = confirm_since_;
  lock.unlock();
  // The sweep that came between does not know of it.
  if (asked < since) runtime::spawn(lease->confirm(since));
}

void Core::confirm_leases(LocalTime since) {
  store_changes.fetch_add(1, std::memory_order_relaxed);
  std::unique_lock lock(mutex_);
  confirm_since_ = std::max(confirm_since_, std::min(since, runtime_->now()));
  to_confirm_ = leases_;
  const std::size_t wanted = std::min(confirmations_at_once, to_confirm_.size());
  const std::size_t more = wanted - std::min(wanted, confirming_);
  confirming_ += more;
  lock.unlock();
  for (std::size_t at = 0; at < more; ++at) runtime::spawn(confirm_rest());
}

std::shared_ptr<HeldLease> Core::next_to_confirm(LocalTime& since) {
  const std::lock_guard lock(mutex_);
  since = confirm_since_;
  while (!to_confirm_.empty()) {
    auto lease = to_confirm_.back().lock();
    to_confirm_.pop_back();
    if (lease) return lease;
  }
  --confirming_;
  return nullptr;
}

Task<bool> Core::confirm_rest() {
  const auto self = shared_from_this();
  LocalTime since{};
  while (const auto lease = next_to_confirm(since)) {
    auto confirming = lease->confirm(since);
    co_await std::move(confirming);
  }
  co_return true;
}

std::shared_ptr<Core> make_core(std::shared_ptr<store::Store> store,
                                std::shared_ptr<runtime::Runtime> runtime) {
  auto core = std::make_shared<Core>(std::move(store), std::move(runtime), runtime::this_process());
  core->store().on_change([weak = std::weak_ptr(core)] {
    const auto still_there = weak.lock();
    if (still_there) still_there->confirm_leases(still_there->store().known_since());
  });
  return core;
}

}  // namespace holdfast::client
