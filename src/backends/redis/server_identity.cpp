// SPDX-License-Identifier: Apache-2.0
#include "backends/redis/server_identity.hpp"

#include <fmt/format.h>

namespace holdfast::backends::redis {

std::string_view info_field(std::string_view info, std::string_view field) {
  while (!info.empty()) {
    const auto end = info.find("\r\n");
    const auto line = info.substr(0, end);
    if (line.size() > field.size() && line.starts_with(field) && line[field.size()] == ':') {
      return line.substr(field.size() + 1);
    }
    if (end == std::string_view::npos) break;
    info.remove_prefix(end + 2);
  }
  return {};
}

ServerIdentity identity_from(std::string_view info, ServerIdentity known) {
  const auto take = [info](std::string& where, std::string_view field) {
    if (const auto value = info_field(info, field); !value.empty()) where = value;
  };
  take(known.run_id, "run_id");
  take(known.replication_id, "master_replid");
  take(known.role, "role");
  take(known.uptime_s, "uptime_in_seconds");
  take(known.aof_enabled, "aof_enabled");
  return known;
}

Placement::Peer peer_from(std::string_view info) {
  return {.run_id = std::string(info_field(info, "run_id")),
          .is_replica = info_field(info, "role") == "slave"};
}

std::string difference(const ServerIdentity& before, const ServerIdentity& now) {
  if (!before.is_known()) return {};
  if (before.run_id != now.run_id) return "another server answers, or it was restarted";
  if (before.role != now.role) {
    return fmt::format("its role changed from {} to {}", before.role, now.role);
  }
  if (before.replication_id == now.replication_id) return {};
  return "its replication id changed: a failover, or data taken over from another server";
}

}  // namespace holdfast::backends::redis
