// SPDX-License-Identifier: Apache-2.0
#include "cli/process/take.hpp"

#include "cli/process/attend.hpp"
#include "cli/process/held_above.hpp"
#include "cli/process/waiting_line.hpp"
#include "runtime/clock.hpp"
#include "runtime/process_info.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace holdfast::cli {
namespace {

using runtime::LocalClock;
using Leases = Result<std::vector<Lease>>;

Leases acquire_once(const Client& client, const Wanted& wanted, Duration wait,
                    std::stop_token stop) {
  auto options = wanted.options;
  options.wait = wait;
  if (wanted.names.size() > 1) {
    const std::vector<std::string_view> names(wanted.names.begin(), wanted.names.end());
    return client.acquire_all(names, options, std::move(stop), std::source_location{});
  }
  auto lease =
      acquire_chosen(client, wanted.choice, wanted.names.front(), options, std::move(stop));
  if (!lease) return std::unexpected(std::move(lease.error()));
  std::vector<Lease> leases;
  leases.push_back(std::move(*lease));
  return leases;
}

// A lock that was handed over is ours for the short time of a claim. A command wants the whole ttl,
// or its ladder would start with it.
Leases confirmed(Leases leases, Duration ttl) {
  if (!leases) return leases;
  for (auto& lease : *leases) {
    if (lease.remaining() > ttl / 2) continue;
    if (auto extended = lease.extend(ttl); !extended) {
      return std::unexpected(std::move(extended.error()));
    }
  }
  return leases;
}

// For ever in pieces of the longest wait there is. A lock that was handed over and lost again
// before it could be confirmed is waited for anew.
Leases acquire_patiently(const Client& client, const Wanted& wanted, const std::stop_token& stop) {
  const auto asked_at = LocalClock::now();
  while (true) {
    auto left = max_wait;
    if (wanted.wait) {
      const auto waited = std::chrono::floor<Duration>(LocalClock::now() - asked_at);
      left = std::max(Duration::zero(), *wanted.wait - waited);
    }
    auto leases = confirmed(acquire_once(client, wanted, left, stop), wanted.options.ttl);
    if (leases || stop.stop_requested()) return leases;
    const auto code = leases.error().code;
    const bool again = (code == Errc::timed_out && !wanted.wait) ||
                       (code == Errc::lost && left > Duration::zero());
    if (!again) return leases;
  }
}

std::string say_for_whom(const Client& client, const std::vector<std::string>& names) {
  const auto self = runtime::this_process();
  for (const auto& name : names) {
    const auto lock = client.inspect(name);
    if (!lock || lock->holders.empty()) continue;
    const auto& metadata = lock->holders.front().metadata;
    const bool is_ours = metadata && metadata->process && *metadata->process == *self;
    if (!is_ours) return describe_wait(*lock, self->host, self->pid);
  }
  return fmt::format("waiting for '{}'", names.front());
}

// What a wait may outlast: a crowd of others, or a store that is away for a moment.
bool may_pass(Errc code) {
  return code == Errc::busy || code == Errc::unavailable || code == Errc::outcome_unknown ||
         code == Errc::quorum_not_reached;
}

// A lock that lives in one process protects nothing from another one.
Result<void> refuse_private(std::string_view url) {
  if (!url.starts_with("memory:")) return {};
  return fail(Errc::unsupported,
              "the store memory: lives inside one process, so nobody else would see this lock; use "
              "file:, redis:// or redlock://");
}

Leases wait_attended(const Client& client, const Wanted& wanted, const Console& console,
                     const Signals& signals) {
  Leases leases = fail(Errc::cancelled, "the wait was cancelled");
  WaitingLine line(console);
  Attention attention;
  if (line.is_active()) {
    attention.tick = [&] { line.show(say_for_whom(client, wanted.names)); };
  }
  const auto signal = attend(signals, attention, [&](const std::stop_token& stop) {
    leases = acquire_patiently(client, wanted, stop);
  });
  line.wipe();
  if (!signal) return leases;
  if (leases) {
    for (auto& lease : *leases) (void)lease.release();
  }
  die_by(*signal);
}

}  // namespace

Result<OpenStore> open_attended(Context& context, const Signals& signals) {
  auto settings = context.settings();
  if (!settings) return std::unexpected(std::move(settings.error()));
  const auto& url = settings->store.value;
  if (auto good = refuse_private(url); !good) return std::unexpected(std::move(good.error()));
  const bool is_local = url.starts_with("file:");
  Result<Client> client = fail(Errc::cancelled, "the store was not opened");
  if (is_local) {
    client = context.open_store();
  } else {
    attend(signals, {.tick = {}, .dies_at_once = true},
           [&](const std::stop_token&) { client = context.open_store(); });
  }
  if (!client) return std::unexpected(std::move(client.error()));
  return OpenStore{std::move(*client), is_local};
}

Leases take(const OpenStore& store, const Wanted& wanted, const Console& console,
            const Signals& signals) {
  const bool may_wait = !wanted.wait || *wanted.wait > Duration::zero();
  if (may_wait) {
    if (auto good = refuse_to_wait_for_ourselves(store.client, wanted.names, wanted.choice);
        !good) {
      return std::unexpected(std::move(good.error()));
    }
  }
  if (store.is_local) {
    auto leases = acquire_once(store.client, wanted, Duration::zero(), {});
    if (leases || !may_wait || !may_pass(leases.error().code)) return leases;
  }
  return wait_attended(store.client, wanted, console, signals);
}

}  // namespace holdfast::cli
