// SPDX-License-Identifier: Apache-2.0
//
// Members on one thread with a hand-moved clock and a bad line to each of them.
#pragma once

#include "backends/quorum/quorum_store.hpp"
#include "known_store.hpp"
#include "support/ask.hpp"
#include "support/fault_store.hpp"
#include "support/hand_runtime.hpp"
#include "support/running.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace holdfast::test {

using backends::quorum::Options;
using runtime::LocalTime;
using store::Reply;
using StorePtr = std::shared_ptr<store::Store>;

class QuorumTest : public testing::Test {
 public:
  void TearDown() override;

  // Members that a test has not made known are taken to forget nothing.
  static Options usual() {
    Options options;
    options.grace = 0s;
    return options;
  }
  static Options with_grace(Micros grace) {
    Options options;
    options.grace = grace;
    return options;
  }

  void open(std::size_t members, const Options& options = usual());
  // Another client of the same members, over lines of its own.
  StorePtr open_again(const Options& options = usual());

  using Asking = Running<Result<Reply>>;
  Asking start(const model::LockCommand& command, std::stop_token stop = {},
               std::string_view name = "orders:42") const;
  Asking start(const Ask& ask, std::stop_token stop = {}) const {
    return start({spec, to_command(spec.kind, ask)}, std::move(stop));
  }
  Asking start_renewal(std::string_view owner, Micros ttl = 10s, std::uint64_t request = 1) const;
  Asking start_release(std::string_view owner, std::uint64_t request = 1) const;

  // What must be answered without that time passes.
  Result<model::LockOutcome> send(const model::LockCommand& command,
                                  std::string_view name = "orders:42") const;
  model::LockOutcome apply(const model::LockCommand& command,
                           std::string_view name = "orders:42") const;
  model::LockOutcome acquire(const Ask& ask, std::string_view name = "orders:42") const {
    return apply({spec, to_command(spec.kind, ask)}, name);
  }
  model::LockOutcome renew(std::string_view owner, Micros ttl = 10s,
                           std::uint64_t request = 1) const;
  model::LockOutcome release(std::string_view owner, std::uint64_t request = 1) const;

  // Behind the quorum's back, at one member.
  model::LockOutcome apply_at(std::size_t member, const model::LockCommand& command,
                              std::string_view name = "orders:42") const;
  void take_at(const std::vector<std::size_t>& at, const Ask& ask);
  void raise_fences_at(std::size_t member, Fence fence);
  LockView seen_at(std::size_t member, std::string_view name = "orders:42") const;
  // How many holders each member has.
  std::vector<std::size_t> holders() const;
  std::vector<std::size_t> waiters() const;
  std::vector<Fence> fences() const;  // of the first holder of each member; 0 where there is none

  void script(const std::vector<std::size_t>& at, Verb verb, Fault fault, unsigned count = 1000);
  unsigned count(Verb verb) const;  // over all members

  void advance(std::chrono::nanoseconds time) { runtime->advance(time); }
  LocalTime now() const { return runtime->now(); }

  std::shared_ptr<HandRuntime> runtime = std::make_shared<HandRuntime>();
  std::vector<std::shared_ptr<FaultStore>> members;
  std::vector<std::shared_ptr<FaultStore>> other_lines;  // of those that were opened again
  std::vector<std::shared_ptr<KnownStore>> known;        // before each line: who it is
  StorePtr store;
  model::LockSpec spec = model::LockSpec::mutex();
};

inline model::LockOutcome outcome_of(const Result<Reply>& reply) {
  if (reply) return std::get<model::LockOutcome>(reply->outcome);
  ADD_FAILURE() << reply.error().message;
  return model::Refused{reply.error()};
}

inline std::string message_of(const Result<Reply>& reply) {
  if (!reply) return reply.error().message;
  ADD_FAILURE() << "succeeded";
  return {};
}

inline std::vector<std::size_t> counts(std::initializer_list<std::size_t> each) { return each; }

}  // namespace holdfast::test
