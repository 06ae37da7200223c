// SPDX-License-Identifier: Apache-2.0
//
// A lock as a value: a capacity, holders with leases, and a queue. Every kind is this one machine
// with other numbers.
#pragma once

#include <holdfast/names.hpp>
#include <holdfast/view.hpp>

#include <boost/container/small_vector.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>

namespace holdfast::model {

// The store's own clock. It shares no origin with any client's clock, hence a type of its own.
struct StoreClock {
  using duration = Micros;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<StoreClock>;
  static constexpr bool is_steady = false;
};
using StoreTime = StoreClock::time_point;

// Names one attempt to hold a lock. It stays the same while a command is repeated, which is what
// makes repeating harmless. `any` stands for everything an owner has.
enum class RequestId : std::uint64_t { any = 0 };

// Where a waiter can be told that its turn has come.
enum class ProcessId : std::uint64_t { none = 0 };

using MetadataPtr = std::shared_ptr<const Metadata>;

struct LockSpec {
  Kind kind = Kind::mutex;
  Order order = Order::automatic;
  std::uint32_t capacity = all_permits;

  static LockSpec mutex(Order order = Order::automatic);
  static LockSpec reentrant(Order order = Order::automatic);
  static LockSpec read_write(Order order = Order::automatic);
  static LockSpec semaphore(std::uint32_t permits, Order order = Order::automatic);
  static LockSpec election();

  friend bool operator==(const LockSpec&, const LockSpec&) = default;
};

// Whether a request with `wanted` may join a name bound to `bound`. A mutex is the write side of a
// read-write lock, so these two agree; an automatic order agrees with any.
bool agree(const LockSpec& bound, const LockSpec& wanted);

// One lease. An owner that re-entered has several, each with its own request and expiry.
struct Hold {
  OwnerId owner;
  RequestId request{};
  ProcessId process{};
  std::uint32_t permits = all_permits;
  bool claimed = false;  // handed over by us; its process has not confirmed it yet
  Fence fence = 0;
  StoreTime expires{};
  StoreTime since{};
  Micros ttl{};  // what was last asked for; a durable store grants it again after a reboot
  MetadataPtr metadata;
};

struct Waiter {
  OwnerId owner;
  RequestId request{};
  ProcessId process{};
  std::uint32_t permits = all_permits;
  RequestId converts{};  // the shared hold this waiter wants to upgrade, if any
  StoreTime since{};
  Micros ttl{};
  Micros claim{};
  MetadataPtr metadata;
};

// In a barging lock the next in line is told to try. It has until then to come; if it does not, its
// process is stopped or does not listen, and loses its turn.
struct Offer {
  std::uint64_t place = 0;
  StoreTime until{};  // the beginning of time: there is no offer

  bool stands() const { return until != StoreTime{}; }
  friend bool operator==(const Offer&, const Offer&) = default;
};

struct LockState {
  LockSpec spec;  // binds the name only while somebody holds or waits
  // Nobody asked for this long: the waiters are gone. Enqueues and checks move it.
  StoreTime queue_expires{};
  boost::container::small_vector<Hold, 1> holds;
  std::map<std::uint64_t, Waiter> queue;  // by place
  Offer offer;                            // to one of the queue

  bool idle() const { return holds.empty() && queue.empty(); }
};

// The place of an upgrader: before everybody else, since nobody else can be served before it.
inline constexpr std::uint64_t upgrader_place = 0;

namespace limits {
inline constexpr std::size_t max_holders = 16384;        // leases on one lock, re-entries included
inline constexpr std::size_t max_waiters = 16384;        // waiters on one lock
inline constexpr std::uint32_t max_counted_ahead = 256;  // of Queued::ahead
inline constexpr Micros default_claim = std::chrono::milliseconds(500);
inline constexpr Micros queue_ttl = std::chrono::seconds(10);
inline constexpr Micros queue_ttl_grain = std::chrono::seconds(1);
inline constexpr std::uint64_t fence_headroom_us = 10'000;
// Of Renew::fence: microseconds until the year 2160, and far from where a script's numbers end.
inline constexpr Fence max_agreed_fence = 6'000'000'000'000'000;
}  // namespace limits

}  // namespace holdfast::model
