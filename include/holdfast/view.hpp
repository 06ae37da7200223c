// SPDX-License-Identifier: Apache-2.0
//
// What an observer may see of a lock: who holds it, since when, who waits. Never an owner token.
#pragma once

#include <holdfast/names.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast {

using Micros = std::chrono::microseconds;

// Permits that no number reaches: a writer takes all of them, readers share them.
inline constexpr std::uint32_t all_permits = UINT32_MAX;

enum class Kind : std::uint8_t { mutex = 1, reentrant, read_write, semaphore, election };

// automatic: fifo where the store can, else barging. Only an explicit fifo is refused by a store
// that cannot keep a queue.
enum class Order : std::uint8_t { automatic = 0, fifo, barging };

// The same for every lock of a process, so it is shared. A pid is given again once its process has
// ended; together with the start it names one process of the host.
struct ProcessInfo {
  std::string host;
  std::string program;
  std::int64_t pid = 0;
  std::int64_t started_ms = 0;  // by the wall clock, since 1970; 0: unknown
  friend bool operator==(const ProcessInfo&, const ProcessInfo&) = default;
};

// What a holder or waiter says of itself. All of it together is at most max_metadata_bytes.
struct Metadata {
  std::shared_ptr<const ProcessInfo> process;  // may be null
  std::string source;                          // "report.cpp:42", where acquire was called
  std::string note;                            // free text of the caller
  std::string value;                           // what the leader of an election publishes
};

inline constexpr std::size_t max_metadata_bytes = 4096;

// `party` is the same wherever the same owner holds or waits, and tells nothing of its token; 0
// where it is not known.
struct HolderView {
  Fence fence = 0;
  std::uint64_t party = 0;
  std::uint32_t permits = all_permits;  // all_permits: exclusive
  bool claimed = false;                 // handed over, not yet confirmed by its new holder
  Micros remaining{};
  Micros held_for{};
  std::shared_ptr<const Metadata> metadata;  // may be null
};

struct WaiterView {
  std::uint64_t party = 0;
  std::uint32_t permits = all_permits;
  Micros waiting_for{};
  std::shared_ptr<const Metadata> metadata;  // may be null
};

// What one member of a quorum says of a lock.
struct MemberView {
  enum class State : std::uint8_t { free, held, unreachable, too_slow, refused };
  std::string address;
  State state = State::free;
  bool counts = true;       // else `reason` says why its word does not
  Fence fence = 0;          // the largest of its holders
  std::uint64_t party = 0;  // of the holder with that fence
  std::uint32_t holders = 0;
  Micros remaining{};  // until the last of them ends
  std::string reason;  // of no answer, or of an answer that does not count
};

// The stable word of a state: "free", "held", "unreachable", "too_slow", "refused".
std::string_view to_string(MemberView::State state) noexcept;

struct LockView {
  std::string name;
  Kind kind = Kind::mutex;
  std::uint32_t capacity = 0;  // all_permits: no limit (mutex and read-write)
  Order order = Order::fifo;
  std::vector<HolderView> holders;
  std::vector<WaiterView> waiters;  // next in line first
  // Of a quorum: each of its members. Then the holders above are those on which a majority agrees.
  std::vector<MemberView> members;
};

// One page of a listing. An empty `next` means that this was the last one.
struct LockPage {
  std::vector<LockView> locks;
  std::string next;
};

// One line of a lock's audit trail, where the store keeps one.
struct LockEvent {
  std::chrono::system_clock::time_point at;  // by the store's wall clock
  std::string what;  // granted, released, expired, upgraded, downgraded, forced or lost
  Fence fence = 0;
  std::uint32_t permits = all_permits;
  std::shared_ptr<const Metadata> metadata;  // of the holder; may be null
};

}  // namespace holdfast
