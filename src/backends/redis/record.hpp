// SPDX-License-Identifier: Apache-2.0
//
// The text form of holders and waiters; docs/stores/redis.md has the bytes. Everything but names,
// owners and metadata has a fixed width, so that Lua can cut it out without searching.
#pragma once

#include "model/lock_state.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace holdfast::backends::redis {

inline constexpr std::size_t tail_bytes = 49;

// What follows the owner in a record: metadata, and a tail of fixed width.
struct Body {
  model::LockSpec spec;
  std::uint32_t permits = 0;
  model::ProcessId process{};
  Micros ttl{};
  model::MetadataPtr metadata;
};

void append_digits(std::string& out, std::uint64_t number, std::size_t width);
void append_hex(std::string& out, std::uint64_t number);
std::optional<std::uint64_t> parse_digits(std::string_view text);
std::optional<std::uint64_t> parse_hex(std::string_view text);

model::MetadataPtr parse_metadata(std::string_view text);
void append_metadata(std::string& out, const model::MetadataPtr& metadata);
void append_tail(std::string& out, const Body& body);
std::optional<Body> parse_body(std::string_view text);

// The request in hexadecimal, then the owner.
struct Identity {
  OwnerId owner;
  model::RequestId request{};
};
std::optional<Identity> parse_identity(std::string_view text);

// The three forms a holder or waiter has at the server. Nothing if it is none of ours.
std::optional<model::Hold> parse_lone_hold(std::string_view value, Micros left,
                                           model::StoreTime now, model::LockSpec& spec);
std::optional<model::Hold> parse_hold(std::string_view id, std::string_view record);
std::optional<model::Waiter> parse_waiter(std::string_view id, std::string_view record);

}  // namespace holdfast::backends::redis
