// SPDX-License-Identifier: Apache-2.0
//
// What can be asked of a lock, and what it can answer. Repeating any command is harmless.
#pragma once

#include "model/lock_state.hpp"

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace holdfast::model {

struct Acquire {
  OwnerId owner;
  RequestId request{};
  std::uint32_t permits = all_permits;
  Micros ttl{};
  bool wait = false;        // join the queue if it cannot be had at once
  std::uint64_t place = 0;  // the place told by an earlier Queued: a waiter gets it back
  Micros claim = limits::default_claim;
  // Changes the permits of this hold of the same owner (upgrade, downgrade) instead of adding one.
  // The hold keeps its request; `request` only names the wait.
  RequestId converts{};
  // Of a conversion: the fence of the hold as its caller knows it; 0 for any. Another fence says
  // that the hold was upgraded since, so that this command is a late copy, which must change
  // nothing.
  Fence known = 0;
  ProcessId process{};
  MetadataPtr metadata;
};

// RequestId::any renews everything that the owner holds, and is answered by the lease with the
// largest fence, of those the longest, of those the oldest. A renewal never shortens a lease: a late
// duplicate of an older, shorter one would cut a lease its holder still believes in.
struct Renew {
  OwnerId owner;
  RequestId request{};
  Micros ttl{};
  // The fence on which several stores have agreed; 0 for none. The lease has it from now on, and
  // the counter is raised to it even where there is no lease, so that every later fence of this
  // store is larger.
  Fence fence = 0;
  // The fence is proposed, not agreed upon yet: it is taken only where no other grant can have it,
  // which is where the counter has not reached it, or where this lease has it already. Otherwise
  // the lease has a larger one than was proposed, a new one if need be, and the answer tells it.
  bool reserve = false;
};

// With a request of its own it also leaves the queue, so the same command cancels a wait whatever
// became of it. RequestId::any ends every lease of the owner whose fence is at most `up_to`, and
// leaves the queue alone: a late copy ends nothing that was granted after it was sent, and no wait
// that began since.
struct Release {
  OwnerId owner;
  RequestId request{};
  // Only a claim or a place in the queue, never a lease: for whoever finds nobody to give a message
  // to. Its waiter may have learned of the grant by asking, and holds it.
  bool only_unconfirmed = false;
  Fence up_to = UINT64_MAX;  // with RequestId::any only
};

struct Inspect {
  // With an owner, the answer says what that owner holds.
  std::optional<OwnerId> owner{};
  // Name the owners too. Whoever knows an owner can release its lease, so ask only for somebody who
  // may. Not every store tells.
  bool with_owners = false;
};

// Ends the leases whose fence is at most `up_to`. Whoever was granted the lock since that fence was
// seen is left alone, so that a repeated command never ousts the next holder.
struct ForceRelease {
  Fence up_to = UINT64_MAX;  // every lease there is
  // Only the leases whose metadata names this source; empty: whatever it says. For whoever cleans
  // up after a caller that is known by it and has died.
  std::string source{};
};

struct LockCommand {
  LockSpec spec;
  std::variant<Acquire, Renew, Release, Inspect, ForceRelease> verb;
};

struct Granted {
  Fence fence = 0;
  Micros remaining{};
  // How long ago the lease began, by the store's clock; nothing where the store does not tell.
  std::optional<Micros> held_for{};
};
struct Busy {
  Micros retry_after{};  // until the lease in the way ends, if nobody renews it
  std::uint32_t holder_count = 0;
  std::vector<HolderView> holders;  // the first few
  // Of a store that votes: on how many members others have it, and of how many.
  std::uint32_t held_by_members = 0;
  std::uint32_t members = 0;
};
struct Queued {
  std::uint64_t place = 0;
  std::uint32_t ahead = 0;  // at most limits::max_counted_ahead
  Micros retry_after{};
};
struct Released {
  bool lease = true;  // else only a place in the queue
};
struct NotHeld {};
struct NotOwner {};
struct Forced {
  Fence fence = 0;
  std::uint32_t count = 0;
};
struct Seen {
  LockView lock;
  std::optional<Granted> mine;    // what Inspect::owner has; see Renew for several
  std::vector<OwnerId> owners{};  // of lock.holders, in that order; empty unless asked for
};
// The command breaks a rule that only the state could tell: spec_mismatch, limit_reached.
struct Refused {
  Error error;
};

using LockOutcome =
    std::variant<Granted, Busy, Queued, Released, NotHeld, NotOwner, Forced, Seen, Refused>;

// A message to a waiter's process. With a grant it is the lock itself (a claim, to be confirmed);
// without one it is a hint to ask again.
struct Grant {
  Fence fence = 0;
  StoreTime at{};
  Micros lease{};
};
struct Message {
  ProcessId process{};
  OwnerId owner;
  RequestId request{};
  std::optional<Grant> grant;
};

}  // namespace holdfast::model
