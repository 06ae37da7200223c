// SPDX-License-Identifier: Apache-2.0
#include "backends/file/slots.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <ctime>
#include <utility>

namespace holdfast::backends::file {

namespace {

constexpr std::uint64_t index_mask = 0xFFFF;
constexpr std::uint64_t never_none = index_mask + 1;
static_assert(max_waiting_processes <= index_mask + 1);

// True if this thread has it now; what a dead process left is put in order first.
bool take_alive(Slot& slot) {
  const int got = pthread_mutex_trylock(&slot.alive);
  if (got == EOWNERDEAD) {
    slot.process.store(0, std::memory_order_relaxed);
    pthread_mutex_consistent(&slot.alive);
  }
  return got == 0 || got == EOWNERDEAD;
}

long futex(const std::atomic<std::uint32_t>& word, int operation, std::uint32_t value,
           const timespec* timeout) {
  return syscall(SYS_futex, &word, operation, value, timeout, nullptr, 0);
}

bool claim(Slot& slot, model::ProcessId process, pid_t pid) {
  if (!take_alive(slot)) return false;
  slot.pid.store(pid, std::memory_order_relaxed);
  slot.process.store(std::to_underlying(process), std::memory_order_release);
  return true;
}

}  // namespace

std::optional<model::ProcessId> claim_slot(WakeLayout& wake, std::uint64_t random, pid_t pid) {
  // First those that nobody has; then those whose process may have died without giving them back.
  for (const bool only_free : {true, false}) {
    for (std::uint64_t index = 0; index < wake.slots.size(); ++index) {
      Slot& slot = wake.slots[index];
      if (only_free && slot.process.load(std::memory_order_relaxed) != 0) continue;
      const model::ProcessId process{(random & ~index_mask) | never_none | index};
      if (claim(slot, process, pid)) return process;
    }
  }
  return std::nullopt;
}

void give_back_slot(WakeLayout& wake, model::ProcessId process) {
  Slot& slot = slot_of(wake, process);
  slot.process.store(0, std::memory_order_relaxed);
  pthread_mutex_unlock(&slot.alive);
}

Slot& slot_of(WakeLayout& wake, model::ProcessId process) {
  return wake.slots[(std::to_underlying(process) & index_mask) % max_waiting_processes];
}

bool is_listening(WakeLayout& wake, model::ProcessId process) {
  if (process == model::ProcessId::none) return false;
  Slot& slot = slot_of(wake, process);
  if (slot.process.load(std::memory_order_acquire) != std::to_underlying(process)) return false;
  if (!take_alive(slot)) return true;
  slot.process.store(0, std::memory_order_relaxed);
  pthread_mutex_unlock(&slot.alive);
  return false;
}

void send(WakeLayout& wake, model::ProcessId process, const Said& said) {
  Slot& slot = slot_of(wake, process);
  const model::Grant grant = said.grant.value_or(model::Grant{});
  RingEntry& entry = slot.ring[slot.tail.load(std::memory_order_relaxed) % ring_size];
  // Released one by one: whoever reads any of them also sees the tail from before, and by that
  // that the entry is being written over.
  entry.request.store(std::to_underlying(said.request), std::memory_order_release);
  entry.fence.store(grant.fence, std::memory_order_release);
  entry.at_us.store(grant.at.time_since_epoch().count(), std::memory_order_release);
  entry.lease_us.store(grant.lease.count(), std::memory_order_release);
  slot.tail.fetch_add(1, std::memory_order_release);
}

Said read_ring(const Slot& slot, std::uint32_t number) {
  const RingEntry& entry = slot.ring[number % ring_size];
  Said said{.request = model::RequestId{entry.request.load(std::memory_order_acquire)}};
  const model::Grant grant{
      .fence = entry.fence.load(std::memory_order_acquire),
      .at = model::StoreTime(Micros(entry.at_us.load(std::memory_order_acquire))),
      .lease = Micros(entry.lease_us.load(std::memory_order_acquire))};
  if (grant.lease > Micros::zero()) said.grant = grant;
  return said;
}

bool is_overrun(const Slot& slot, std::uint32_t number) {
  return slot.tail.load(std::memory_order_relaxed) - number >= ring_size;
}

void send_to_everybody(WakeLayout& wake) {
  for (const Slot& slot : wake.slots) {
    const model::ProcessId process{slot.process.load(std::memory_order_relaxed)};
    if (process != model::ProcessId::none) send(wake, process, {});
  }
}

void wake_up(WakeLayout& wake, model::ProcessId process) {
  futex(slot_of(wake, process).tail, FUTEX_WAKE, INT_MAX, nullptr);
}

void wake_everybody(WakeLayout& wake) {
  for (const Slot& slot : wake.slots) {
    if (slot.process.load(std::memory_order_relaxed) == 0) continue;
    futex(slot.tail, FUTEX_WAKE, INT_MAX, nullptr);
  }
}

void sleep_while(const std::atomic<std::uint32_t>& tail, std::uint32_t value,
                 std::chrono::milliseconds at_most) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(at_most);
  const timespec timeout{.tv_sec = seconds.count(),
                         .tv_nsec = std::chrono::nanoseconds(at_most - seconds).count()};
  futex(tail, FUTEX_WAIT, value, &timeout);
}

}  // namespace holdfast::backends::file
