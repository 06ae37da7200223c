// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/machine.hpp"

#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace holdfast::backends::memory {

// A name with its hash, which is taken once, for choosing the shard and for its map.
struct HashedName {
  explicit HashedName(std::string_view text)
      : text(text), hash(std::hash<std::string_view>{}(text)) {}
  std::string_view text;
  std::size_t hash;
};

// A part of the names, behind one mutex. A name is here only while somebody holds or waits.
class alignas(64) Shard {
 public:
  // One step on one name. World's messages are the caller's to deliver, after the call.
  model::LockOutcome apply(const HashedName& name, const model::LockCommand& command,
                           model::World& world);

  // Appends up to `room` locks that start with `prefix` and come after `after`, by name. True if
  // there may be more.
  bool list(std::string_view prefix, std::string_view after, std::size_t room, model::StoreTime now,
            std::vector<LockView>& out) const;

 private:
  struct Key {
    std::string text;
    std::size_t hash;
  };
  struct Hash {
    using is_transparent = void;  // NOLINT(readability-identifier-naming): the standard's name
    std::size_t operator()(const auto& name) const noexcept { return name.hash; }
  };
  struct Same {
    using is_transparent = void;  // NOLINT(readability-identifier-naming): the standard's name
    bool operator()(const auto& a, const auto& b) const noexcept { return a.text == b.text; }
  };

  using Locks = std::unordered_map<Key, model::LockState, Hash, Same>;

  Locks::iterator add(const HashedName& name);
  void remove(Locks::iterator lock);
  void sweep_a_little(model::StoreTime now);

  mutable std::mutex mutex_;
  // All below is guarded by mutex_.
  Locks locks_;
  Locks::node_type spare_;  // the last one removed: a lock is often followed by another
  std::size_t sweep_ = 0;
};

}  // namespace holdfast::backends::memory
