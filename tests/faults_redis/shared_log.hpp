// SPDX-License-Identifier: Apache-2.0
//
// A history that several processes write at the same time, and the resource that their locks
// protect. Both lie in memory that survives whoever is killed: an event is there as a whole or not
// at all, and no writer waits for another. Make it before the processes are forked.
#pragma once

#include "history/history.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::faults {

using history::Attempt;
using history::Detail;
using history::Event;
using history::OpId;
using history::ProcessId;
using history::Time;
using history::What;

inline constexpr Time millisecond = 1'000'000;

class SharedLog {
 public:
  static constexpr std::size_t most_events = std::size_t{1} << 20U;
  static constexpr std::size_t most_attempts = std::size_t{1} << 18U;
  static constexpr std::size_t most_resources = 64;

  explicit SharedLog(std::vector<std::string> names);
  SharedLog(const SharedLog&) = delete;
  SharedLog& operator=(const SharedLog&) = delete;
  ~SharedLog();

  const std::vector<std::string>& names() const { return names_; }
  // Nanoseconds since this log was made; the same in every process.
  Time now() const;

  // Numbers the attempt and notes that it was asked for now.
  OpId asked(const Attempt& attempt);
  // What an attempt said when it was asked for.
  Attempt attempt(OpId op) const;
  // The time of the event may lie in the past; 0 is now.
  void add(Event event);
  void fault(What what, ProcessId process, Time at, Time until);

  // The value that the name protects. It takes a fence that is at least as large as every one
  // before. Each call is written down in the moment it happens.
  struct Access {
    bool accepted = false;
    std::int64_t value = 0;
  };
  Access read(OpId op, std::uint64_t fence);
  Access write(OpId op, std::uint64_t fence, std::int64_t value, Time looked);
  std::int64_t value_of(history::NameId name) const;

  // Everything so far, in the order of time. Throws if it did not fit.
  history::History history() const;

 private:
  struct Shared;
  Access use(What what, OpId op, std::uint64_t fence, std::pair<std::int64_t, Time> written);

  const std::vector<std::string> names_;
  const Time began_;
  Shared* shared_;
};

}  // namespace holdfast::faults
