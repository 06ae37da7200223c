// SPDX-License-Identifier: Apache-2.0
#include "server/journal.hpp"

namespace holdfast::server {

void Journal::record(const Who& who, const Happening& happening) {
  const auto now = std::chrono::floor<Micros>(std::chrono::system_clock::now());
  events_.publish({.type = happening.type,
                   .name = std::string(happening.name),
                   .at = now,
                   .fence = happening.fence,
                   .reason = std::string(happening.reason),
                   .source = EventSource::server,
                   .principal = who.principal ? who.principal->name : std::string(),
                   .kind = happening.kind,
                   .permits = happening.permits,
                   .metadata = happening.metadata});
}

}  // namespace holdfast::server
