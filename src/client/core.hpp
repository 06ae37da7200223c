// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/options.hpp>

#include "client/counters.hpp"
#include "client/holdings.hpp"
#include "client/lines.hpp"
#include "client/outage_log.hpp"
#include "client/span.hpp"
#include "client/validity.hpp"
#include "runtime/runtime.hpp"
#include "store/store.hpp"

#include <atomic>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <source_location>
#include <string_view>
#include <vector>

namespace holdfast::client {

// How long a release goes on trying.
inline constexpr Micros release_timeout = std::chrono::seconds(2);
// What a destructor or a cancelled wait may spend on cleaning up before it leaves the rest to the
// background.
inline constexpr Micros prompt_timeout = std::chrono::milliseconds(50);

// Leases that ask at the same time whether the store still knows them. The others follow as answers
// come: thousands at once would only wait for each other.
inline constexpr std::size_t confirmations_at_once = 64;

class HeldLease;

// What every handle and lease of one client shares.
class Core : public std::enable_shared_from_this<Core> {
 public:
  Core(std::shared_ptr<store::Store> store, std::shared_ptr<runtime::Runtime> runtime,
       std::shared_ptr<const ProcessInfo> process);

  store::Store& store() const { return *store_; }
  const std::shared_ptr<store::Store>& shared_store() const { return store_; }
  runtime::Runtime& runtime() const { return *runtime_; }
  std::shared_ptr<runtime::Runtime> shared_runtime() const { return runtime_; }

  // How far the clocks of the store and of this machine may drift apart. Set before the first lock.
  Drift drift() const { return drift_; }
  void assume(Drift drift) { drift_ = drift; }

  // False in a forked child: the threads and the store's files belong to the parent.
  bool is_ours() const;
  // Errors: unavailable after a fork, unsupported on the runtime's own thread.
  Result<void> may_block() const;

  OwnerId fresh_owner() const;
  model::RequestId fresh_request() const;
  model::MetadataPtr metadata(std::string_view note, std::string_view value,
                              const std::source_location& where);

  // A lease that wants to be confirmed when the store behind the address changes; at once if it did
  // since the question was `asked` that the lease is the answer to.
  void watch(const std::shared_ptr<HeldLease>& lease, LocalTime asked);
  // The store may no longer know what it granted before `since`: every lease asks that was not
  // answered after that. One sweep at a time, which begins again when the store changes again.
  void confirm_leases(LocalTime since = LocalTime::max());

  Lines& lines() { return lines_; }
  Holdings& holdings() { return holdings_; }
  Counters& counters() { return counters_; }
  ClientMetrics metrics() const;

  // Null: to nobody.
  void trace_to(std::shared_ptr<Tracer> tracer);
  bool is_traced() const { return is_traced_.load(std::memory_order_relaxed); }
  // An empty span while nobody listens. Hold no lock of yours.
  Span span(std::string_view operation, std::initializer_list<TraceAttribute> attributes) {
    if (!is_traced()) return {};
    return Span(tracer(), operation, TraceAttributes(attributes.begin(), attributes.size()));
  }

  // Locks that could not be given back in time; each was logged.
  std::atomic<std::uint64_t> unreleased{0};
  std::atomic<std::uint64_t> lost{0};
  std::atomic<std::uint64_t> store_changes{0};
  OutageLog outages;

 private:
  const std::shared_ptr<store::Store> store_;
  const std::shared_ptr<runtime::Runtime> runtime_;
  const std::shared_ptr<const ProcessInfo> process_;
  const std::uint32_t generation_;
  Drift drift_;
  Lines lines_;
  Holdings holdings_;
  Counters counters_;
  std::atomic<bool> is_traced_{false};

  std::shared_ptr<Tracer> tracer();
  Task<bool> confirm_rest();
  std::shared_ptr<HeldLease> next_to_confirm(LocalTime& since);

  std::mutex mutex_;
  std::shared_ptr<Tracer> tracer_;  // guarded by mutex_
  // By file and line: most programs lock at a handful of places. Guarded by mutex_.
  std::map<std::pair<const char*, std::uint_least32_t>, model::MetadataPtr> known_places_;
  // Only on stores that may change. Those that ended are dropped now and then. Guarded by mutex_.
  std::vector<std::weak_ptr<HeldLease>> leases_;
  std::size_t sweep_at_ = 64;
  // The sweep of confirm_leases. Guarded by mutex_.
  std::vector<std::weak_ptr<HeldLease>> to_confirm_;
  std::size_t confirming_ = 0;
  LocalTime confirm_since_ = LocalTime::min();
};

std::shared_ptr<Core> make_core(std::shared_ptr<store::Store> store,
                                std::shared_ptr<runtime::Runtime> runtime);

}  // namespace holdfast::client
