// SPDX-License-Identifier: Apache-2.0
#include "client/release_all.hpp"

#include "client/held_lease.hpp"
#include "runtime/event.hpp"
#include "runtime/log.hpp"
#include "runtime/spawn.hpp"

#include <fmt/format.h>

namespace holdfast::client {

namespace {

// What the releases share; the last of them says so.
struct Progress {
  explicit Progress(std::shared_ptr<runtime::Runtime> runtime) : all_done(std::move(runtime)) {}

  std::atomic<std::size_t> left{0};
  std::atomic<std::size_t> released{0};
  std::atomic<std::size_t> failed{0};
  runtime::Event all_done;
};

void count(Progress& progress, const HeldLease& lease, const Result<Released>& result) {
  if (result) {
    if (*result == Released::released) ++progress.released;
    return;
  }
  // Somebody else released it meanwhile.
  if (result.error().code == Errc::not_held) return;
  ++progress.failed;
  runtime::log_warning(fmt::format("release_all could not give back '{}': {}",
                                   lease.identity().name.str(), result.error().message));
}

}  // namespace

Task<ReleasedAll> release_all(std::shared_ptr<Core> core) {
  const auto leases = core->holdings().all();
  if (leases.empty()) co_return ReleasedAll{};
  const auto progress = std::make_shared<Progress>(core->shared_runtime());
  progress->left = leases.size();
  for (const auto& lease : leases) {
    runtime::spawn(lease->take_away(), [progress, lease](Result<Released>&& result) {
      count(*progress, *lease, result);
      if (--progress->left == 0) progress->all_done.notify();
    });
  }
  // Each of them gives up after release_timeout at the latest.
  co_await progress->all_done.wait_until(LocalTime::max());
  co_return ReleasedAll{.released = progress->released, .failed = progress->failed};
}

}  // namespace holdfast::client

namespace holdfast {

Result<ReleasedAll> Client::release_all() const {
  if (auto good = core_->may_block(); !good) return std::unexpected(std::move(good.error()));
  return runtime::run_blocking(client::release_all(core_));
}

void Client::trace(std::shared_ptr<Tracer> tracer) const { core_->trace_to(std::move(tracer)); }

ClientMetrics Client::metrics() const { return core_->metrics(); }

}  // namespace holdfast
