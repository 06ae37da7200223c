// SPDX-License-Identifier: Apache-2.0
//
// The wake file as every process of the store sees it: the lock of the writers, and a slot for each
// process that waits. docs/stores/file.md describes it. Any change of it is a new version.
#pragma once

#include "backends/file/lock_word.hpp"

#include <array>
#include <atomic>
#include <cstdint>

namespace holdfast::backends::file {

inline constexpr std::uint64_t wake_magic = 0x454b415754534648;  // "HFSTWAKE"
inline constexpr std::uint32_t wake_version = 2;
inline constexpr std::uint32_t max_waiting_processes = 1024;
inline constexpr std::uint32_t ring_size = 32;

struct WakeHeader {
  std::uint64_t magic = wake_magic;
  std::uint32_t version = wake_version;
  std::uint32_t slot_count = max_waiting_processes;
  std::uint64_t total_bytes = 0;
  // What all processes of the store must have in common beside the file (wake_file.cpp).
  std::int64_t boot_clock_ns = 0;
  std::uint64_t file_system = 0;
};

// Whoever enters the database has `word`. Pid and time are for the error message of those who could
// not have it; the pid is that of its own pid namespace, and decides nothing.
struct alignas(64) WriterSection {
  LockWord word;
  std::atomic<std::int64_t> pid;
  std::atomic<std::int64_t> since_us;  // CLOCK_BOOTTIME
  // The last fence of the store, and how far fences may go before the database has to know. Written
  // before the commit of the grant, so that a killed process can lose a fence but not repeat it.
  std::atomic<std::uint64_t> fence;
  std::atomic<std::uint64_t> fence_bound;
};

// A hand-over, or a hint to ask again if the lease is 0. Read while it may be written over, which
// `tail` then tells.
struct RingEntry {
  std::atomic<std::uint64_t> request;  // 0: for every waiter of the process
  std::atomic<std::uint64_t> fence;
  std::atomic<std::int64_t> at_us;
  std::atomic<std::int64_t> lease_us;
};

// `tail` counts the messages ever written into the ring, and is what the listener sleeps on.
struct alignas(64) Slot {
  std::atomic<std::uint32_t> tail;
  std::array<RingEntry, ring_size> ring;
};

// Zero bytes, but for the header, are a store that no process has opened yet.
struct WakeLayout {
  WakeHeader header;
  WriterSection writer;
  alignas(64) std::atomic<std::uint32_t> next_index;  // where the next process looks for a byte
  // Who listens at the slot of the same index: the id of a process, with its number in it; 0: free.
  alignas(64) std::array<std::atomic<std::uint64_t>, max_waiting_processes> listeners;
  std::array<Slot, max_waiting_processes> slots;
};

static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

}  // namespace holdfast::backends::file
