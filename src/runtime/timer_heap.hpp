// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/runtime.hpp"

#include <optional>
#include <vector>

namespace holdfast::runtime {

// Timers of any number behind one alarm. Cancelling really removes: a program that takes and gives
// back a million locks a second must not keep a million dead timers. Not thread-safe.
class TimerHeap {
 public:
  TimerId add(LocalTime when, Job job);
  bool remove(TimerId timer);
  std::optional<LocalTime> next() const {
    if (heap_.empty()) return std::nullopt;
    return heap_.front().when;
  }
  // The job of the earliest timer that is due at `now`, in order of time, then of adding.
  std::optional<Job> pop_due(LocalTime now);
  std::size_t size() const { return heap_.size(); }

 private:
  struct Entry {
    LocalTime when;
    std::uint64_t sequence;
    std::uint32_t slot;
    bool operator<(const Entry& other) const {
      return when != other.when ? when < other.when : sequence < other.sequence;
    }
  };
  struct Slot {
    Job job;
    std::uint32_t generation = 1;
    std::size_t position = 0;  // in heap_
  };

  std::uint32_t take_slot();
  Job take_out(std::size_t position);
  void place(std::size_t position, Entry entry);
  void sift_up(std::size_t position);
  void sift_down(std::size_t position);

  std::vector<Entry> heap_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_slots_;
  std::uint64_t next_sequence_ = 0;
};

}  // namespace holdfast::runtime
