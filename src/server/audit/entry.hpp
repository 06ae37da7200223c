// SPDX-License-Identifier: Apache-2.0
//
// One line of the server's audit log: who did what to which lock. Never an owner token.
#pragma once

#include <holdfast/names.hpp>

#include "text/wall_time.hpp"

#include <boost/json/fwd.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace holdfast::server {

using text::WallTime;

struct AuditEntry {
  WallTime at{};
  // acquired, released, forced, lost, denied, session_started, session_ended, server_started,
  // server_stopped, tokens_reloaded, rate_limit_reset, run_taken_over, run_forgotten,
  // entries_dropped
  std::string what;
  std::string name{};  // of the lock, if one is meant
  std::optional<Fence> fence{};
  std::string principal{};
  std::string client{};  // the address it came from
  std::string reason{};
  std::string request_id{};
};

// What is empty is left out. `seq` comes first, so that a reader can find its place by the
// beginnings of lines.
boost::json::object to_json(const AuditEntry& entry, std::uint64_t seq);

}  // namespace holdfast::server
