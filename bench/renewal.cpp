// SPDX-License-Identifier: Apache-2.0
//
// Ten thousand leases of one client, all taken at once, so that all their renewals come due at
// once: how late are they, and what do they cost?
#include <holdfast/holdfast.hpp>

#include "backends/memory/memory_store.hpp"
#include "client/core.hpp"
#include "support/bars.hpp"
#include "support/direct.hpp"
#include "support/processes.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <mutex>
#include <thread>
#include <unordered_map>

namespace holdfast::bench {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t lease_count = 10'000;
constexpr Duration ttl = 30s;
constexpr Duration renew_every = ttl / 3;
constexpr std::size_t windows = 3;
// Two rounds of renewals; the first window begins half-way between two rounds.
constexpr Duration window = 2 * renew_every;

// Passes everything on and notes how long after its due time each renewal came. A renewal is due
// `renew_every` after the acquire or the renewal before it.
class RecordingStore final : public store::Store {
 public:
  explicit RecordingStore(std::shared_ptr<store::Store> store) : store_(std::move(store)) {}

  Task<Result<store::Reply>> apply(store::Request request) override {
    note(std::get<model::LockCommand>(request.command));
    return store_->apply(std::move(request));
  }
  Result<std::unique_ptr<store::Listening>> listen(const LockName& name, const OwnerId& owner,
                                                   model::RequestId request) override {
    return store_->listen(name, owner, request);
  }
  Task<Result<LockPage>> list(store::ListRequest request) override {
    return store_->list(std::move(request));
  }
  Result<void> supports(const model::LockSpec& spec) const override {
    return store_->supports(spec);
  }
  store::Capabilities capabilities() const override { return store_->capabilities(); }
  std::string describe() const override { return store_->describe(); }

  // What was noted since the last call, in milliseconds.
  std::vector<double> take_lateness() {
    const std::lock_guard lock(mutex_);
    return std::exchange(lateness_ms_, {});
  }

 private:
  void note(const model::LockCommand& command) {
    const std::int64_t now = monotonic_ns();
    const auto* acquire = std::get_if<model::Acquire>(&command.verb);
    const auto* renew = std::get_if<model::Renew>(&command.verb);
    if (!acquire && !renew) return;
    const std::lock_guard lock(mutex_);
    std::int64_t& last = last_ns_[acquire ? acquire->request : renew->request];
    const std::int64_t due = last + std::chrono::nanoseconds(renew_every).count();
    if (renew) lateness_ms_.push_back(static_cast<double>(now - due) / 1e6);
    last = now;
  }

  const std::shared_ptr<store::Store> store_;
  std::mutex mutex_;
  std::unordered_map<model::RequestId, std::int64_t> last_ns_;  // guarded by mutex_
  std::vector<double> lateness_ms_;                             // guarded by mutex_
};

std::vector<Lease> acquire_all(const Client& client) {
  std::vector<Lease> leases;
  leases.reserve(lease_count);
  for (std::size_t i = 0; i < lease_count; ++i) {
    auto lease = client.mutex(order_name(i)).acquire({.ttl = ttl});
    if (!lease) give_up(lease.error().message);
    leases.push_back(std::move(*lease));
  }
  return leases;
}

double cpu_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

struct Outcome {
  std::vector<double> p50_ms;
  std::vector<double> p99_ms;
  std::vector<double> worst_ms;
  std::vector<double> cpu_percent;
};

void watch_one_window(RecordingStore& store, Outcome& out) {
  const double cpu_before = cpu_seconds();
  const std::int64_t began = monotonic_ns();
  std::this_thread::sleep_for(window);
  const double seconds = static_cast<double>(monotonic_ns() - began) / 1e9;
  out.cpu_percent.push_back(100 * (cpu_seconds() - cpu_before) / seconds);
  const auto lateness = store.take_lateness();
  if (lateness.size() < 2 * lease_count) {
    give_up(fmt::format("{} renewals came, {} were due", lateness.size(), 2 * lease_count));
  }
  out.p50_ms.push_back(median(lateness));
  out.p99_ms.push_back(percentile(lateness, 0.99));
  out.worst_ms.push_back(percentile(lateness, 1));
}

}  // namespace

}  // namespace holdfast::bench

int main() {
  using namespace holdfast;
  using namespace holdfast::bench;
  const auto runtime = runtime::shared_runtime();
  const auto store = std::make_shared<RecordingStore>(backends::memory::make_memory_store(runtime));
  const Client client(client::make_core(store, runtime));
  const auto leases = acquire_all(client);
  std::this_thread::sleep_for(renew_every / 2);
  Outcome outcome;
  for (std::size_t i = 0; i < windows; ++i) watch_one_window(*store, outcome);
  for (const Lease& lease : leases) {
    if (!lease.valid()) give_up("a lease was lost");
  }
  print_row("10,000 leases, ttl 30 s: renewal lateness p50", outcome.p50_ms, "ms");
  print_row("10,000 leases, ttl 30 s: renewal lateness p99", outcome.p99_ms, "ms");
  print_row("10,000 leases, ttl 30 s: renewal lateness, worst", outcome.worst_ms, "ms");
  print_row("10,000 leases, ttl 30 s: CPU of one core", outcome.cpu_percent, "%");
  bar_at_most("renewal.p99_lateness_ms", median(outcome.p99_ms), 3000);
  bar_at_most("renewal.cpu_percent", median(outcome.cpu_percent), 5);
}
