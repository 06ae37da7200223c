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

class HeldLease : public std::enable_shared_from_this<HeldLease>, public HeldPlace {
 public:
  // Which hold in the store this is; RequestId::any for all that the owner has.
  struct Identity {
    LockName name;
    model::LockSpec spec;
    OwnerId owner;
    model::RequestId request{};
    std::uint32_t permits = all_permits;
    model::MetadataPtr metadata;
    Fence up_to = 0;  // of RequestId::any: what is newer than this is not meant; 0: everything is
  };

  // `began`: when the acquire did, of a lease that was acquired.
  static std::shared_ptr<HeldLease> start(std::shared_ptr<Core> core, Identity identity,
                                          Terms terms, const Won& won,
                                          std::optional<LocalTime> began = std::nullopt);

  const Identity& identity() const { return identity_; }
  Core& core() const { return *core_; }
  Fence fence() const;
  Micros remaining() const;
  std::stop_token lost();
  void on_lost(std::function<void(const Error&)> callback);

  Task<Result<Released>> release();
  Task<Result<void>> extend(Micros ttl);
  Task<Result<void>> convert(std::uint32_t permits, Micros wait, std::stop_token stop);
  // Releases it under its holder, who is told first, as of a loss.
  Task<Result<Released>> take_away();
  // Asks the store whether it still knows this lease, unless a question of `since` or later was
  // answered; if not, it is lost.
  Task<Result<void>> confirm(LocalTime since);
  // Ends the handle without a word to the store.
  void detach();
  // The ttl that a claim still has to be extended to; nothing where the lease is no mere claim.
  std::optional<Micros> unconfirmed_ttl() const;
  // The handle goes away: gives the lock back without keeping anybody waiting.
  void abandon();

  HeldLease(std::shared_ptr<Core> core, Identity identity, Terms terms, const Won& won);
  HeldLease(const HeldLease&) = delete;
  HeldLease& operator=(const HeldLease&) = delete;
  ~HeldLease();

 private:
  enum class State : std::uint8_t { held, lost, ended };

  LocalTime now() const { return core_->runtime().now(); }
  store::Request ask(model::LockCommand command, LocalTime deadline) const;
  void arm();  // with mutex_ held
  void tick();
  // True if it had not ended before. `how` is for the tracer.
  bool end(LocalTime at, std::string_view how);
  void leave(LocalTime at, std::string_view how);  // once, when it is held no more
  void lose(Error error);
  Error why_not_held() const;  // with mutex_ held
  bool is_held_at(LocalTime at) const;
  LocalTime believed_until() const;
  // With mutex_ held.
  bool is_the_same_lease(Fence sent_with, Fence fence) const;
  bool must_be_undone(Fence fence);  // then converting_ is set
  // What ends it, and nothing that the owner was granted since.
  model::Release ending() const;
  Task<Result<void>> renew(Micros ttl, LocalTime deadline);
  Task<Result<void>> ask_for(std::uint32_t permits, Micros wait, std::stop_token stop);
  Task<Result<void>> learn_fence();
  Task<Result<void>> back_to_shared();
  Task<Result<void>> undo_upgrade();

  const std::shared_ptr<Core> core_;
  const Identity identity_;
  const LocalTime since_;
  Span traced_;  // from the start until it is held no more

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
