// SPDX-License-Identifier: Apache-2.0
//
// One command to every member at the same time. It is over as soon as the outcome is certain; those
// who answer later are heard all the same.
#pragma once

#include "backends/quorum/leases.hpp"
#include "backends/quorum/member.hpp"
#include "backends/quorum/vote.hpp"
#include "runtime/event.hpp"

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace holdfast::backends::quorum {

using store::Reply;

struct Answers {
  std::vector<Ballot> ballots;
  std::vector<Result<Reply>> replies;  // until it came: outcome_unknown
  // The outcome of a member; null where it gave none.
  const model::LockOutcome* outcome(std::size_t member) const;
};

struct Question {
  LockName name;
  model::Command command;
  LocalTime deadline{};
  std::stop_token stop{};
};

class Round : public std::enable_shared_from_this<Round> {
 public:
  // agreed: certain, and with one fence of a majority, if there is one.
  enum class Until : std::uint8_t { certain, agreed, all };
  struct Rules {
    Until until = Until::certain;
    Stake stake = Stake::nothing;           // what rests on it
    Micros ttl{};                           // of the lease that does
    Micros grace{};                         // of the members
    MemberSet counted = MemberSet().set();  // the yes of the others is none
    Fence fence = 0;                        // that was proposed: only a yes with it is one
    // An answer that came when the round was over, or that nobody waits for. On any thread.
    std::function<void(std::size_t member, const Ballot&, const Result<Reply>&)> late{};
    // Somebody's first answer told who it is.
    std::function<void()> learned{};
  };

  Round(std::shared_ptr<const Members> members, std::shared_ptr<runtime::Runtime> runtime,
        Rules rules);

  // Changes the command of one member before it is sent.
  using Adapt = std::function<void(std::size_t member, model::LockCommand&)>;
  static Task<Answers> run(std::shared_ptr<Round> round, Question question, Adapt adapt = {});

 private:
  void put(std::size_t member, Result<Reply> reply);
  void all_are_asked();
  Ballot judge(std::size_t member, const Result<Reply>& reply) const;
  bool is_decided() const;  // with mutex_ held

  const std::shared_ptr<const Members> members_;
  const std::shared_ptr<runtime::Runtime> runtime_;
  const Rules rules_;
  LocalTime slow_from_{};
  runtime::Event decided_;
  std::mutex mutex_;
  bool is_asked_ = false;  // guarded by mutex_
  bool is_over_ = false;   // guarded by mutex_
  Answers answers_;        // guarded by mutex_
};

// "2 of 5 members granted it, and 3 are needed (a:1 granted, b:2 unreachable: connection refused)"
std::string explain(const Members& members, const std::vector<Ballot>& ballots,
                    std::string_view done);

}  // namespace holdfast::backends::quorum
