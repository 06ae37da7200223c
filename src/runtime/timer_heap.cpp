// SPDX-License-Identifier: Apache-2.0
#include "runtime/timer_heap.hpp"

#include <utility>

namespace holdfast::runtime {

namespace {

// The generation in the upper half tells a timer from a later one in the same slot.
TimerId make_id(std::uint32_t slot, std::uint32_t generation) {
  return TimerId{(std::uint64_t{generation} << 32) | slot};
}

}  // namespace

TimerId TimerHeap::add(LocalTime when, Job job) {
  const std::uint32_t slot = take_slot();
  slots_[slot].job = std::move(job);
  heap_.push_back({when, next_sequence_++, slot});
  slots_[slot].position = heap_.size() - 1;
  sift_up(heap_.size() - 1);
  return make_id(slot, slots_[slot].generation);
}

bool TimerHeap::remove(TimerId timer) {
  const auto slot = static_cast<std::uint32_t>(timer);
  const auto generation = static_cast<std::uint32_t>(std::to_underlying(timer) >> 32);
  if (slot >= slots_.size() || slots_[slot].generation != generation) return false;
  take_out(slots_[slot].position);
  return true;
}

std::optional<Job> TimerHeap::pop_due(LocalTime now) {
  if (heap_.empty() || heap_.front().when > now) return std::nullopt;
  return take_out(0);
}

std::uint32_t TimerHeap::take_slot() {
  if (free_slots_.empty()) {
    slots_.emplace_back();
    free_slots_.reserve(slots_.capacity());
    return static_cast<std::uint32_t>(slots_.size() - 1);
  }
  const std::uint32_t slot = free_slots_.back();
  free_slots_.pop_back();
  return slot;
}

Job TimerHeap::take_out(std::size_t position) {
  Slot& slot = slots_[heap_[position].slot];
  Job job = std::move(slot.job);
  slot.job = nullptr;
  ++slot.generation;
  free_slots_.push_back(heap_[position].slot);
  const Entry last = heap_.back();
  heap_.pop_back();
  if (position < heap_.size()) {
    place(position, last);
    sift_up(position);
    sift_down(slots_[last.slot].position);
  }
  return job;
}

void TimerHeap::place(std::size_t position, Entry entry) {
  heap_[position] = entry;
  slots_[entry.slot].position = position;
}

void TimerHeap::sift_up(std::size_t position) {
  const Entry entry = heap_[position];
  while (position > 0) {
    const std::size_t parent = (position - 1) / 2;
    if (!(entry < heap_[parent])) break;
    place(position, heap_[parent]);
    position = parent;
  }
  place(position, entry);
}

void TimerHeap::sift_down(std::size_t position) {
  const Entry entry = heap_[position];
  while (true) {
    std::size_t child = 2 * position + 1;
    if (child >= heap_.size()) break;
    if (child + 1 < heap_.size() && heap_[child + 1] < heap_[child]) ++child;
    if (!(heap_[child] < entry)) break;
    place(position, heap_[child]);
    position = child;
  }
  place(position, entry);
}

}  // namespace holdfast::runtime
