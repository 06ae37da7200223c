// SPDX-License-Identifier: Apache-2.0
//
// What can happen to a lock, and how it is known. Without JSON, for code that prints no events.
#pragma once

#include <cstdint>
#include <string_view>

namespace holdfast::text {

enum class EventType : std::uint8_t {
  acquired,
  queued,
  left,  // a waiter gave up
  renewed,
  released,
  expired,
  lost,    // its holder was told that it no longer has the lease
  forced,  // released by force
  store_changed,
  deadlock,
};

// "acquired", "queued", …
std::string_view to_word(EventType type) noexcept;

// server: it went through the server that tells of it. observed: it was seen on the store.
enum class EventSource : std::uint8_t { server, observed };

}  // namespace holdfast::text
