// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/redis/placement.hpp"

#include <string>
#include <string_view>

namespace holdfast::backends::redis {

// Which server this is, as far as it can be told from outside. A restart changes the run id, a
// failover or a resynchronisation the replication id, a demotion the role.
struct ServerIdentity {
  std::string run_id;
  std::string replication_id;
  std::string role;
  std::string uptime_s;
  std::string aof_enabled;

  bool is_known() const { return !run_id.empty() || !replication_id.empty(); }
  friend bool operator==(const ServerIdentity&, const ServerIdentity&) = default;
};

// The value of a field of INFO; empty if it is not there.
std::string_view info_field(std::string_view info, std::string_view field);

// Keeps what is known already where this text does not say.
ServerIdentity identity_from(std::string_view info, ServerIdentity known);

// The same for a placement: only what this text says.
Placement::Peer peer_from(std::string_view info);

// "redis.example:6379 was restarted", for the log; empty if nothing of importance changed.
std::string difference(const ServerIdentity& before, const ServerIdentity& now);

}  // namespace holdfast::backends::redis
