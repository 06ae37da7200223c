// SPDX-License-Identifier: Apache-2.0
//
// One resource, one lane: what goes upstream goes in the order of the fences. Whoever has a newer
// fence waits until nothing older is under way; whoever comes with an older one than went is turned
// away. From any thread.
#pragma once

#include <holdfast/names.hpp>

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace holdfast::guard {

class Lanes {
  struct Lane;

 public:
  using Called = std::move_only_function<void()>;
  enum class Entry : std::uint8_t { goes, waits, too_old };

  // One request on its way. Leaves the lane when it ends. Not for several threads at once.
  class Place {
   public:
    Place() = default;
    Place(Place&& other) noexcept;
    Place& operator=(Place&& other) noexcept;
    ~Place() { leave(); }

    // `called` is kept if it waits, and called once when it may go, on whatever thread makes room:
    // it must not block, nor come back here.
    Entry enter(Fence fence, Called called);
    // The newest fence that went.
    Fence newest() const;
    // It has ended upstream. Does nothing the second time.
    void leave();

   private:
    friend Lanes;
    Place(Lanes* lanes, Lane* lane) : lanes_(lanes), lane_(lane) {}

    Lanes* lanes_ = nullptr;
    Lane* lane_ = nullptr;
    bool goes_ = false;  // or waits to
  };

  Lanes();
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;
  ~Lanes();

  // Before the store is asked about the fence: from then on the lane remembers what went, so that
  // an answer of the store that comes late finds out.
  Place join(std::string_view resource);

  // Lanes that somebody is in.
  std::size_t size() const;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };
  using Map = std::unordered_map<std::string, std::unique_ptr<Lane>, Hash, std::equal_to<>>;
  struct alignas(64) Shard {
    mutable std::mutex mutex;
    Map lanes;  // guarded by mutex
  };
  static constexpr std::size_t shard_count = 16;

  std::array<Shard, shard_count> shards_;
};

}  // namespace holdfast::guard
