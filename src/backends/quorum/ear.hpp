// SPDX-License-Identifier: Apache-2.0
//
// A waiter's ear at all members. It stands in line at each of them under a request that never gets
// the lock, only hints; the first member that changes wakes it.
#pragma once

#include "backends/quorum/member.hpp"
#include "runtime/event.hpp"

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace holdfast::backends::quorum {

class Ear : public std::enable_shared_from_this<Ear> {
 public:
  Ear(std::shared_ptr<runtime::Runtime> runtime, model::ProcessId process);

  model::ProcessId process() const { return process_; }
  static Task<store::Notice> next(std::shared_ptr<Ear> ear, LocalTime deadline);
  void poke();
  void hint();

  // Whether it is time to stand in line (again). Not at the first question: most of them are
  // answered with the lock.
  bool must_register(LocalTime now, bool every_time);
  // Listens at every member for what is said to this request from now on.
  void register_as(const Members& members, const LockName& name, const OwnerId& owner,
                   model::RequestId request, LocalTime now);
  // What the member's Acquire says besides.
  void adapt(std::size_t member, model::Acquire& acquire) const;
  void stands_in_line(std::size_t member, model::RequestId request, std::uint64_t place);
  // Stops listening. Answers under which request it stands in line, and where.
  struct Place {
    model::RequestId request{};
    std::vector<std::size_t> members;
  };
  Place unregister();

  // Rivals took a part of the members each. Everybody stands back for a random time, during which
  // hints do not count, since each of them comes from a rival that stands back; answers how long.
  Micros stand_back(LocalTime now, Micros round, Micros most, std::uint64_t random);
  void met_no_rival();

 private:
  using Ears = std::vector<std::shared_ptr<store::Listening>>;
  static Task<bool> forward(std::shared_ptr<store::Listening> from, std::weak_ptr<Ear> to);

  const model::ProcessId process_;
  const std::shared_ptr<runtime::Runtime> runtime_;
  runtime::Event event_;

  mutable std::mutex mutex_;
  // All below is guarded by mutex_.
  bool is_poked_ = false;
  bool is_hinted_ = false;
  bool has_asked_ = false;
  LocalTime quiet_until_ = LocalTime::min();
  unsigned rivalries_ = 0;
  model::RequestId request_{};
  LocalTime registered_at_{};
  Ears ears_;
  std::vector<std::uint64_t> places_;
  std::vector<bool> in_line_;
};

}  // namespace holdfast::backends::quorum
