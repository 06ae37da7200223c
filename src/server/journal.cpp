// SPDX-License-Identifier: Apache-2.0
#include "server/journal.hpp"

#include "runtime/clock.hpp"
#include "server/audit/audit_log.hpp"
#include "server/auth/principal.hpp"
#include "server/events/observer.hpp"
#include "server/metrics/metrics.hpp"
#include "server/wall_clock.hpp"

namespace holdfast::server {

namespace {

const std::string& name_of(const Who& who) {
  static const std::string nobody;
  return who.principal ? who.principal->name : nobody;
}

// What happens every few seconds to every lock is no news to an auditor.
const char* audited(EventType type) {
  switch (type) {
    case EventType::acquired: return "acquired";
    case EventType::released: return "released";
    case EventType::forced: return "forced";
    case EventType::lost: return "lost";
    default: return nullptr;
  }
}

}  // namespace

// Here, so that every way to a lock is counted alike. What fails is counted where it fails.
void Journal::count(const Happening& happening) {
  switch (happening.type) {
    case EventType::acquired: {
      const auto kind = static_cast<std::size_t>(happening.kind.value_or(Kind::mutex));
      return metrics_.acquisitions[kind - 1].add(std::nullopt);
    }
    case EventType::renewed: return metrics_.renewals.add(std::nullopt);
    case EventType::released: return metrics_.releases.add(std::nullopt);
    case EventType::forced: return metrics_.forced.add();
    case EventType::lost: return metrics_.lost.add();
    default: return;
  }
}

void Journal::record(const Who& who, const Happening& happening) {
  count(happening);
  const auto now = wall_now();
  if (const char* what = audited(happening.type)) {
    audit_.append({.at = now,
                   .what = what,
                   .name = std::string(happening.name),
                   .fence = happening.fence,
                   .principal = name_of(who),
                   .client = who.client,
                   .reason = std::string(happening.reason)});
  }
  observer_.publish({.type = happening.type,
                     .name = std::string(happening.name),
                     .at = now,
                     .fence = happening.fence,
                     .reason = std::string(happening.reason),
                     .source = EventSource::server,
                     .principal = name_of(who),
                     .kind = happening.kind,
                     .permits = happening.permits,
                     .metadata = happening.metadata,
                     .party = happening.party,
                     .remaining = happening.remaining,
                     .waited = happening.waited,
                     .held = happening.held},
                    runtime::LocalClock::now());
}

void Journal::note(const Who& who, std::string_view what, std::string_view name,
                   std::string_view reason) {
  audit_.append({.at = wall_now(),
                 .what = std::string(what),
                 .name = std::string(name),
                 .principal = name_of(who),
                 .client = who.client,
                 .reason = std::string(reason)});
}

}  // namespace holdfast::server
