// SPDX-License-Identifier: Apache-2.0
#include "backends/file/slots.hpp"

#include "backends/file/futex.hpp"

#include <climits>
#include <utility>

namespace holdfast::backends::file {

namespace {

constexpr unsigned slot_bits = 16;
constexpr unsigned number_shift = 33;
constexpr std::uint64_t slot_mask = (std::uint64_t{1} << slot_bits) - 1;
constexpr std::uint64_t random_mask = (std::uint64_t{1} << number_shift) - 1 - slot_mask;
static_assert(max_waiting_processes <= slot_mask + 1);
static_assert(number_shift + ProcessNumber::index_bits + ProcessNumber::random_bits == 64);

std::uint64_t process_id(ProcessNumber number, std::uint64_t random, std::uint64_t slot) {
  return (std::uint64_t{number.value} << number_shift) | (random & random_mask) | slot;
}

ProcessNumber number_of(std::uint64_t process) {
  return {static_cast<std::uint32_t>(process >> number_shift)};
}

std::size_t slot_index(model::ProcessId process) {
  return (std::to_underlying(process) & slot_mask) % max_waiting_processes;
}

// Whoever sees the new listener also sees the slot as the one before left it.
bool replace(std::atomic<std::uint64_t>& listener, std::uint64_t before, std::uint64_t after) {
  return listener.compare_exchange_strong(before, after, std::memory_order_acq_rel,
                                          std::memory_order_relaxed);
}

}  // namespace

std::optional<model::ProcessId> claim_slot(const WakeFile& wake, std::uint64_t random) {
  auto& listeners = wake.layout().listeners;
  // First those that nobody has; then those whose process may have died without giving them back.
  for (const bool only_free : {true, false}) {
    for (std::uint64_t index = 0; index < listeners.size(); ++index) {
      const std::uint64_t before = listeners[index].load(std::memory_order_relaxed);
      if (before != 0 && (only_free || wake.life().is_alive(number_of(before)))) continue;
      const std::uint64_t process = process_id(wake.life().number(), random, index);
      if (replace(listeners[index], before, process)) return model::ProcessId{process};
    }
  }
  return std::nullopt;
}

void give_back_slot(WakeLayout& wake, model::ProcessId process) {
  replace(wake.listeners[slot_index(process)], std::to_underlying(process), 0);
}

Slot& slot_of(WakeLayout& wake, model::ProcessId process) {
  return wake.slots[slot_index(process)];
}

bool is_listening(const WakeFile& wake, model::ProcessId process) {
  if (process == model::ProcessId::none) return false;
  const std::uint64_t wanted = std::to_underlying(process);
  auto& listener = wake.layout().listeners[slot_index(process)];
  if (listener.load(std::memory_order_acquire) != wanted) return false;
  if (wake.life().is_alive(number_of(wanted))) return true;
  replace(listener, wanted, 0);
  return false;
}

void free_slots_of(WakeLayout& wake, std::uint32_t process_index) {
  for (auto& listener : wake.listeners) {
    const std::uint64_t process = listener.load(std::memory_order_relaxed);
    if (process == 0 || number_of(process).index() != process_index) continue;
    replace(listener, process, 0);
  }
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
  for (const auto& listener : wake.listeners) {
    const model::ProcessId process{listener.load(std::memory_order_relaxed)};
    if (process != model::ProcessId::none) send(wake, process, {});
  }
}

void wake_up(WakeLayout& wake, model::ProcessId process) {
  wake_sleepers(slot_of(wake, process).tail, INT_MAX);
}

void wake_everybody(WakeLayout& wake) {
  for (const auto& listener : wake.listeners) {
    const model::ProcessId process{listener.load(std::memory_order_relaxed)};
    if (process != model::ProcessId::none) wake_up(wake, process);
  }
}

}  // namespace holdfast::backends::file
