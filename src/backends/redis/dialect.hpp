// SPDX-License-Identifier: Apache-2.0
//
// A dialect lets us share a lock with programs we did not write: where the lock's key is, what it
// looks like, and which form an owner's token has. docs/dialects.md is the page for people.
#pragma once

#include "model/lock_state.hpp"
#include "runtime/runtime.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::backends::redis {

enum class Token : std::uint8_t { hex, uuid, redisx, base64, alphanumeric, redisson };

// What a known program does. Other programs are one of these with another key.
struct Profile {
  std::string_view name;
  std::string_view dialect;  // as users call it
  std::string_view script;   // a file of lua/dialects; empty for Holdfast's own layout
  std::string_view key;      // with a * for the name
  Token token = Token::hex;
  std::uint32_t unit_ms = 1;
};

std::span<const Profile> known_profiles();

class Dialect {
 public:
  Dialect() = default;  // Holdfast's own
  // Empty texts are for what is not given. Errors: bad_input, naming the option.
  static Result<Dialect> make(std::string_view dialect, std::string_view profile,
                              std::string_view key);

  bool is_native() const { return profile_.script.empty(); }
  const Profile& profile() const { return profile_; }

  // The key of the state. In a dialect it lies beside the key that is shared.
  std::string state_key(const LockName& name) const;
  void append_state_key(std::string& out, const LockName& name) const;
  std::optional<LockName> name_of_state_key(std::string_view key) const;
  // The keys of other programs, none in Holdfast's own layout.
  std::vector<std::string> shared_keys(const LockName& name) const;
  // Those of them whose change may mean that the lock is free.
  std::vector<std::string> tracked_keys(const LockName& name) const;
  // The first of those that this one is of.
  std::string_view first_shared_key(std::string_view key) const;

  // Refuses, with the reason, a name whose key may be one that lies beside another lock's.
  Result<void> admits(const LockName& name) const;

  // Whoever tries in vain changes the ttl of the holder's key.
  bool losers_set_ttl() const { return profile_.script == "counter"; }

  // A pattern for SCAN that finds every lock whose name begins with `prefix`, and what type its
  // keys have. A dialect whose keys are bare names finds only locks that Holdfast knows of.
  std::string scan_pattern(std::string_view prefix) const;
  std::string_view scan_type() const;
  std::optional<LockName> name_of_scanned(std::string_view key) const;

  OwnerId fresh_owner(runtime::Runtime& runtime) const;
  // Refuses, with the reason, what the shared key cannot say.
  Result<void> supports(const model::LockSpec& spec) const;

 private:
  bool scans_shared_keys() const { return !is_native() && !before_.empty(); }
  // Whether the lock's key has texts of PHP's Forrst server beside it.
  bool describes(const LockName& name) const;
  std::string shared_key(const LockName& name) const;
  std::optional<LockName> name_of_shared_key(std::string_view key) const;

  Profile profile_{.name = "native", .dialect = "native", .script = {}, .key = {}};
  // Around the name in the shared key.
  std::string before_;
  std::string after_;
};

}  // namespace holdfast::backends::redis
