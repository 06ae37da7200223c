// SPDX-License-Identifier: Apache-2.0
//
// The JSON shapes of docs/json.md, the same in --json, over HTTP and in events. An owner token
// stands in a lease and nowhere else.
//
// Durations are cut to whole milliseconds, so that a lease never looks longer than it is. Points in
// time are `now`, the wall clock of whoever prints, plus or minus what the store measured: for
// people, never for decisions.
#pragma once

#include <holdfast/error.hpp>
#include <holdfast/view.hpp>

#include "text/event_type.hpp"
#include "text/wall_time.hpp"

#include <boost/json/object.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::text {

// The fields of a granted lease. The views need to live only during the call.
struct LeaseFields {
  std::string_view name;
  std::string_view owner;
  Fence fence = 0;
  Micros remaining{};
};

// What is empty or null is left out. The views need to live only during the call.
struct EventFields {
  std::uint64_t id = 0;
  EventType type = EventType::acquired;
  std::string_view name;  // empty for store_changed
  WallTime at{};
  std::optional<Fence> fence;
  std::string_view reason;
  EventSource source = EventSource::server;
  std::string_view principal;  // who asked the server for it
  std::optional<Kind> kind;
  std::optional<std::uint32_t> permits;  // shown as the mode, where the kind is known
  const Metadata* holder = nullptr;      // or waiter: what it said of itself
  std::uint64_t party = 0;
  std::optional<Micros> remaining;
  std::optional<Micros> waited;
  std::optional<Micros> held;
};

// The kind decides whether a permit is exclusive.
boost::json::object to_json(const HolderView& holder, Kind kind, WallTime now);
boost::json::object to_json(const WaiterView& waiter, Kind kind);
boost::json::object to_json(const MemberView& member);
// With `members` where the lock is on a quorum.
boost::json::object to_json(const LockView& lock, WallTime now);
boost::json::object to_json(const LockPage& page, WallTime now);
boost::json::object to_json(const LeaseFields& lease, WallTime now);
boost::json::object to_json(const EventFields& event);
// One line of an audit trail.
boost::json::object to_json(const LockEvent& event);
boost::json::object to_json(const Error& error);

}  // namespace holdfast::text
