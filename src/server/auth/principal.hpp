// SPDX-License-Identifier: Apache-2.0
//
// Who sent a request, and what he may do.
#pragma once

#include "text/wall_time.hpp"

#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::server {

enum class Verb : std::uint8_t {
  read,   // look at locks and events
  lock,   // acquire, renew and release
  admin,  // take locks away from others, and look at the audit trail
};

// A set in which admin implies lock, and lock implies read.
class Verbs {
 public:
  constexpr Verbs() = default;
  constexpr Verbs(std::initializer_list<Verb> verbs) {
    for (const auto verb : verbs) add(verb);
  }

  constexpr void add(Verb verb) {
    bits_ |= static_cast<std::uint8_t>((2U << static_cast<unsigned>(verb)) - 1);
  }
  constexpr bool has(Verb verb) const { return (bits_ >> static_cast<unsigned>(verb) & 1U) != 0; }
  friend bool operator==(const Verbs&, const Verbs&) = default;

 private:
  std::uint8_t bits_ = 0;
};

std::string_view to_string(Verb verb);
// All of them, the implied ones too: "read,lock".
std::string to_string(const Verbs& verbs);
std::optional<Verb> parse_verb(std::string_view word);

using SecretHash = std::array<unsigned char, 32>;  // SHA-256

struct Principal {
  std::string name;  // for logs and the audit trail
  Verbs verbs;
  std::vector<std::string> prefixes;      // of locks' names; empty: every name
  SecretHash secret_hash{};               // of the token; zero for everybody()
  std::optional<text::WallTime> expires;  // from this moment on the token is worth nothing

  bool may(Verb verb) const { return verbs.has(verb); }
  // A prefix is compared byte by byte: "deploy" covers "deployment" too, "deploy:" does not.
  bool may(Verb verb, std::string_view lock_name) const;
  bool has_expired(text::WallTime now) const { return expires && now >= *expires; }

  // Whoever reaches a server that asks for no tokens. May do everything.
  static const std::shared_ptr<const Principal>& everybody();
};

// No token may be called so: the audit trail would not tell them apart.
inline constexpr std::string_view anonymous_name = "anonymous";

}  // namespace holdfast::server
