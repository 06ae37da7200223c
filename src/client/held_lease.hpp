// SPDX-License-Identifier: Apache-2.0
//
// The state behind a Lease: its validity, its renewal and its end. Renewal is made with it and ends
// with it; nothing outlives a release.
#pragma once

#include <holdfast/lease.hpp>

#include "client/acquire.hpp"
#include "client/renewal.hpp"

#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>

namespace holdfast::client {

class HeldLease : public std::enable_shared_from_this<HeldLease> {
 public:
  // Which hold in the store this is; RequestId::any for all that the owner has.
  struct Identity {
    LockName name;
    model::LockSpec spec;
    OwnerId owner;
    model::RequestId request{};
    std::uint32_t permits = all_permits;
    model::MetadataPtr metadata;
  };

  static std::shared_ptr<HeldLease> start(std::shared_ptr<Core> core, Identity identity,
                                          Terms terms, const Won& won);

  const Identity& identity() const { return identity_; }
  Core& core() const { return *core_; }
  Fence fence() const;
  Micros remaining() const;
  std::stop_token lost();
  void on_lost(std::function<void(const Error&)> callback);

  Task<Result<Released>> release();
  Task<Result<void>> extend(Micros ttl);
  Task<Result<void>> convert(std::uint32_t permits, Micros wait, std::stop_token stop);
  // Asks the store whether it still knows this lease; if not, it is lost.
  void confirm();
  // Ends the handle without a word to the store.
  void detach();
  // The ttl that a claim still has to be extended to; nothing where the lease is no mere claim.
  std::optional<Micros> unconfirmed_ttl() const;
  // The handle goes away: gives the lock back without keeping anybody waiting.
  void abandon();

  HeldLease(std::shared_ptr<Core> core, Identity identity, Terms terms, const Won& won);

 private:
  enum class State : std::uint8_t { held, lost, ended };

  LocalTime now() const { return core_->runtime().now(); }
  store::Request ask(model::LockCommand command, LocalTime deadline) const;
  void arm();  // with mutex_ held
  void tick();
  bool end();  // true if it had not ended before
  void lose(Error error);
  Error why_not_held() const;  // with mutex_ held
  // With mutex_ held.
  bool is_the_same_lease(Fence sent_with, Fence fence) const;
  bool must_be_undone(Fence fence);  // then converting_ is set
  Task<Result<void>> renew(Micros ttl, LocalTime deadline);
  Task<Result<void>> ask_for(std::uint32_t permits, Micros wait, std::stop_token stop);
  Task<Result<void>> learn_fence();
  Task<Result<void>> back_to_shared();
  Task<Result<void>> undo_upgrade();

  const std::shared_ptr<Core> core_;
  const Identity identity_;

  mutable std::mutex mutex_;
  // All below is guarded by mutex_.
  State state_ = State::held;
  // Kept while the lease is held, and no longer: a late grant that nobody hears is given back.
  std::shared_ptr<store::Listening> ear_;
  Fence fence_;
  Fence newest_fence_;            // that the store told; newer than fence_ after a failed upgrade
  bool exclusive_;                // surely: the store said so, and nobody asked for less since
  bool converting_ = false;       // one upgrade or downgrade at a time
  bool was_converted_ = false;    // somebody asked for it, whatever came of it
  bool may_be_upgraded_ = false;  // an upgrade that was given up could not be undone yet
  RenewalPlan plan_;
  runtime::TimerId timer_{};
  LocalTime armed_for_ = LocalTime::max();
  std::stop_source lost_{std::nostopstate};  // made when somebody asks for it
  std::function<void(const Error&)> on_lost_;
  std::optional<Error> loss_;
};

}  // namespace holdfast::client
