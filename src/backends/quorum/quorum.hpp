// SPDX-License-Identifier: Apache-2.0
//
// What every command of a quorum shares: the members, how to ask them, and how to give back what an
// attempt left behind.
#pragma once

#include "backends/quorum/ear.hpp"
#include "backends/quorum/give_backs.hpp"
#include "backends/quorum/leases.hpp"
#include "backends/quorum/options.hpp"
#include "backends/quorum/round.hpp"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>

namespace holdfast::backends::quorum {

class Quorum : public std::enable_shared_from_this<Quorum> {
 public:
  Quorum(Members members, const Options& options, std::shared_ptr<runtime::Runtime> runtime);

  const Members& members() const { return *members_; }
  std::size_t size() const { return members_->size(); }
  const Options& options() const { return options_; }
  const std::shared_ptr<runtime::Runtime>& runtime() const { return runtime_; }
  LocalTime now() const { return runtime_->now(); }
  Leases& leases() { return leases_; }
  const Leases& leases() const { return leases_; }

  // Far below the ttl of what is asked for: a member that thinks long costs validity.
  LocalTime deadline_for(Micros ttl, LocalTime at_most) const;
  // So that silent members leave time for what comes after them.
  LocalTime share_of(LocalTime deadline, std::size_t parts) const;
  // How long we may believe in a lease, given what its members say is left of it. The client takes
  // off one per cent again, as from every lease.
  Micros without_drift(Micros lease) const;
  // What the client will make of that: it takes off one per cent and two milliseconds.
  static LocalTime believed_until(LocalTime began, Micros usable) {
    return began + usable - usable / 100 - 2ms;
  }
  // The other way round: nothing that makes it believe in it for longer.
  static Micros usable_until(LocalTime until, LocalTime began) {
    const auto left = std::chrono::floor<Micros>(until - began);
    return left + left / 99 + 2ms;
  }
  Micros next_delay() const;
  // Nobody else has it, and a later one is larger.
  std::uint64_t next_place() { return ++last_place_; }

  Task<Answers> ask(Question question, Round::Rules rules, Round::Adapt adapt = {});

  // In the background, until the member has heard it or the lease has ended.
  void give_back(std::size_t member, const LockName& name, const model::Release& what,
                 LocalTime until);

  // Its waiter has the lock, or wants it no more.
  void leave_line(Ear& ear, const LockName& name, const OwnerId& owner);

  std::shared_ptr<Ear> add_ear();
  std::shared_ptr<Ear> find_ear(model::ProcessId process) const;
  void remove_ear(model::ProcessId process);

  // Refuses a ttl that no majority can keep: members that forget a lease count again after `grace`.
  // Errors: bad_input.
  Result<void> can_keep(Micros ttl) const;

  // Who is behind the addresses may have changed.
  void look_again();
  void may_have_changed(std::size_t member);

 private:
  void find_twins() const;

  const std::shared_ptr<const Members> members_;
  const Options options_;
  const std::shared_ptr<runtime::Runtime> runtime_;
  Leases leases_;
  std::vector<std::shared_ptr<GiveBacks>> give_backs_;  // by member
  std::atomic<std::uint64_t> last_place_ = 0;

  mutable std::mutex mutex_;
  std::map<model::ProcessId, std::weak_ptr<Ear>> ears_;  // guarded by mutex_
};

using QuorumPtr = std::shared_ptr<Quorum>;

std::unexpected<Error> quorum_not_reached(const Quorum& quorum, const LockName& name,
                                          const Answers& answers, std::string_view done);

// Of a vote that is contended.
model::Busy busy_from(const Quorum& quorum, const Answers& answers);

// Each command is a file of its own.
Task<Result<Reply>> acquire(QuorumPtr quorum, store::Request request);
Task<Result<Reply>> convert(QuorumPtr quorum, store::Request request);
Task<Result<Reply>> renew(QuorumPtr quorum, store::Request request);
Task<Result<Reply>> release(QuorumPtr quorum, store::Request request);
Task<Result<Reply>> force_release(QuorumPtr quorum, store::Request request);
Task<Result<Reply>> inspect(QuorumPtr quorum, store::Request request);
Task<Result<Reply>> check_fence(QuorumPtr quorum, store::Request request);
Task<Result<LockPage>> list(QuorumPtr quorum, store::ListRequest request);
Task<Result<std::vector<std::string>>> diagnose(QuorumPtr quorum, LocalTime deadline);

// Proposes a fence for the lease to all members. Each takes it unless another grant can have it
// there, and it is agreed once a majority answers that the lease has it: two majorities share a
// member, so that no two grants agree on the same. Otherwise a larger one is proposed.
struct Agreement {
  LockName name;
  model::LockSpec spec;
  OwnerId owner;
  model::RequestId request{};
  Fence fence = 0;  // at least
  Stake stake = Stake::grant;
  Micros ttl{};
  LocalTime deadline{};
  MemberSet counted = MemberSet().set();
};
struct Agreed {
  Fence fence = 0;
  LocalTime began{};  // when it was proposed
  Answers answers;
};
Task<Agreed> agree_on_fence(QuorumPtr quorum, Agreement agreement);

}  // namespace holdfast::backends::quorum
