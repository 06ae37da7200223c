// SPDX-License-Identifier: Apache-2.0
#include "cli/process/take.hpp"

#include "cli/process/attend.hpp"
#include "cli/process/held_above.hpp"
#include "cli/process/waiting_line.hpp"
#include "runtime/process_info.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace holdfast::cli {
namespace {

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

// Waits for ever in pieces of the longest wait there is.
Leases acquire_patiently(const Client& client, const Wanted& wanted, std::stop_token stop) {
  while (true) {
    auto leases = acquire_once(client, wanted, wanted.wait.value_or(max_wait), stop);
    const bool again = !leases && leases.error().code == Errc::timed_out && !wanted.wait;
    if (!again) return confirmed(std::move(leases), wanted.options.ttl);
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

// A lock that lives in one process protects nothing from another one.
Result<void> refuse_private(std::string_view url) {
  if (!url.starts_with("memory:")) return {};
  return fail(Errc::unsupported,
              "the store memory: lives inside one process, so nobody else would see this lock; use "
              "file: or redis://");
}

Leases wait_attended(const Client& client, const Wanted& wanted, const Console& console,
                     const Signals& signals) {
  Leases leases = fail(Errc::cancelled, "the wait was cancelled");
  WaitingLine line(console);
  Attention attention;
  if (line.is_active()) {
    attention.tick = [&] { line.show(say_for_whom(client, wanted.names)); };
  }
  const auto signal = attend(signals, attention, [&](std::stop_token stop) {
    leases = acquire_patiently(client, wanted, std::move(stop));
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
    if (auto good = refuse_to_wait_for_ourselves(store.client, wanted); !good) {
      return std::unexpected(std::move(good.error()));
    }
  }
  if (store.is_local) {
    auto leases = acquire_once(store.client, wanted, Duration::zero(), {});
    const bool is_busy = !leases && leases.error().code == Errc::busy;
    if (!is_busy || !may_wait) return leases;
  }
  return wait_attended(store.client, wanted, console, signals);
}

}  // namespace holdfast::cli
