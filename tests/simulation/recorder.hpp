// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "history/history.hpp"
#include "model/command.hpp"
#include "simulation/plan.hpp"

#include <string_view>
#include <utility>

namespace holdfast::simulation {

using history::Attempt;
using history::Event;
using history::OpId;
using history::What;

// Writes the history of a seed. Attempts are numbered here, and the number is also the request that
// the client sends, so that the store's side of the story needs no dictionary.
class Recorder {
 public:
  explicit Recorder(const Time& now) : now_(now) {}

  history::History history;
  std::uint64_t grants = 0;
  std::uint64_t hand_overs = 0;
  std::uint64_t faults = 0;

  void begin(const Plan& plan);
  OpId asked(const Attempt& attempt, const OwnerId& owner);
  Event& add(What what, OpId op);
  Event& fault(What what, history::ProcessId process, Time until = 0);
  // The lease of this attempt is to last no longer than that from now on.
  void asked_for_less(OpId op, Micros ttl);
  // Of a new lease. A store that lost its data and whose clock was set back gives out fences again.
  void note_new_fence(Fence fence);
  bool fences_went_back = false;
  bool clock_went_back = false;  // of the store
  // A fault that changes nothing by itself, such as a message that comes twice.
  void harmless_fault() { ++faults; }

  // A random request belongs to an attempt too: of a conversion, or of a client that is not itself.
  void belongs(model::RequestId request, OpId op) { strays_.emplace_back(request, op); }
  // 0 if nobody knows.
  OpId op_of(model::RequestId request) const;
  // The latest attempt of this owner.
  OpId op_of(const OwnerId& owner) const;

  // Whoever adopts the lease of this owner up to this fence ends that of `op`.
  void adopts(const OwnerId& owner, Fence up_to, OpId op) {
    adopted_.push_back({owner, up_to, op});
  }
  // The attempt that a release of everything of the owner is meant for; 0 if nobody knows.
  OpId op_of_adopted(const OwnerId& owner, Fence up_to) const;

  // When its client last asked for the lease of the attempt, or for more of it. What is queued in a
  // process leaves it later.
  Time& asked_for(OpId op) {
    if (asked_for_.size() < op) asked_for_.resize(op + 64);
    return asked_for_[op - 1];
  }

  // What a store last granted to the attempt, before any conversion; of all servers.
  struct StoreGrant {
    Fence fence = 0;
    model::StoreTime since{};
  };
  StoreGrant& last_grant(OpId op) {
    if (store_grants_.size() < op) store_grants_.resize(op + 64);
    return store_grants_[op - 1];
  }

  // The same for the same history, with any compiler.
  std::uint64_t hash() const;

 private:
  Fence largest_fence_ = 0;
  const Time& now_;
  std::vector<OwnerId> owners_;  // by attempt
  std::vector<std::pair<model::RequestId, OpId>> strays_;
  std::vector<StoreGrant> store_grants_;
  std::vector<Time> asked_for_;
  struct Adopted {
    OwnerId owner;
    Fence up_to = 0;
    OpId op = 0;
  };
  std::vector<Adopted> adopted_;
};

}  // namespace holdfast::simulation
