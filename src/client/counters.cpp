// SPDX-License-Identifier: Apache-2.0
#include "client/counters.hpp"

namespace holdfast::client {

void Counters::not_granted(Errc why) noexcept {
  switch (why) {
    case Errc::busy: return busy.add();
    case Errc::timed_out: return timed_out.add();
    case Errc::cancelled: return cancelled.add();
    default: return failed.add();
  }
}

void Counters::count(ClientMetrics& metrics) const {
  metrics.busy = busy.get();
  metrics.timed_out = timed_out.get();
  metrics.cancelled = cancelled.get();
  metrics.failed = failed.get();
  metrics.runs = {.fresh = runs.fresh.get(),
                  .took_over = runs.took_over.get(),
                  .replayed = runs.replayed.get(),
                  .mismatch = runs.mismatch.get(),
                  .in_progress = runs.in_progress.get(),
                  .failed_before = runs.failed_before.get(),
                  .unknown = runs.unknown.get(),
                  .errors = runs.errors.get()};
  metrics.rate_allowed = rate_allowed.get();
  metrics.rate_denied = rate_denied.get();
}

}  // namespace holdfast::client
