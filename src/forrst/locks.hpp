// SPDX-License-Identifier: Apache-2.0
//
// The locks behind the atomic-lock extension.
#pragma once

#include "client/take.hpp"
#include "forrst/host.hpp"
#include "forrst/lock_order.hpp"
#include "forrst/released_owners.hpp"
#include "forrst/turn.hpp"

#include <expected>
#include <memory>

namespace holdfast::forrst {

// What went wrong with a store, as callers are told; the host hears the rest.
Fault fault_of(Host& host, const Error& error, std::string_view what);

class Locks {
 public:
  Locks(std::shared_ptr<client::Core> core, std::shared_ptr<Host> host,
        const ServiceOptions& options);

  struct Granted {
    client::Wanted wanted;  // as it is held
    client::Taken taken;
  };
  // Takes it for the caller, or waits for it; until `give_up_at` at most. Faults:
  // LOCK_ACQUISITION_FAILED, LOCK_TIMEOUT, DEADLINE_EXCEEDED, FORBIDDEN, UNAVAILABLE.
  Task<std::expected<Granted, Fault>> take(const Turn& turn, LockOrder order, std::stop_token stop);

  // {key, acquired, owner, scope, expires_at, fence}
  static boost::json::object data_of(const LockOrder& order, const Granted& granted,
                                     Micros remaining);

  // Renewed from now on, until it is given back or left to its owner.
  std::shared_ptr<client::HeldLease> keep(const Granted& granted) const;
  // False if it was no longer the caller's.
  Task<bool> give_back(const Turn& turn, Granted granted, std::shared_ptr<client::HeldLease> lease);
  // Gives it back in the background, and tries for as long as it lasts.
  void drop(const client::Wanted& held) const { client::give_back(core_, held); }

  // The functions of the extension. `turn` outlives their tasks.
  Task<SystemOutcome> acquire(const Turn& turn);
  Task<Outcome> release(const Turn& turn);
  Task<Outcome> force_release(const Turn& turn);
  Task<Outcome> status(const Turn& turn);
  Task<Outcome> renew(const Turn& turn);

 private:
  client::Wanted wanted_for(const Turn& turn, const LockOrder& order) const;
  Fault not_taken(const LockOrder& order, const client::NotTaken& why, bool was_cut) const;
  Fault not_yours(const FullKey& key, const OwnerId& owner,
                  const model::LockOutcome& outcome) const;
  bool shows_owner(const Turn& turn, const LockName& name) const;
  LocalTime now() const { return core_->runtime().now(); }

  const std::shared_ptr<client::Core> core_;
  const std::shared_ptr<Host> host_;
  const std::string prefix_;
  const ShowOwner show_owner_;
  ReleasedOwners by_hand_;
  ReleasedOwners by_itself_;  // apart, since these may be many
};

}  // namespace holdfast::forrst
