// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/error.hpp>
#include <holdfast/names.hpp>
#include <holdfast/options.hpp>

#include <functional>
#include <memory>
#include <stop_token>

namespace holdfast {

namespace client {
class HeldLease;
}

// What a release found in the store.
enum class Released : std::uint8_t {
  released,         // it was ours, and now it is free or the next one's
  already_expired,  // nobody held it any more: the lease had ended before
  held_by_another,  // somebody else holds it: the lease had ended before
};

// A lock that is ours until it is released, lost or detached. Move-only; a moved-from lease is
// empty and may only be destroyed or assigned to. The destructor releases; it never throws, never
// waits long, and logs what it could not do.
//
// All members may be called from any thread, but not while another thread moves the lease.
//
// A lease is a promise about time, not about your code: a paused process does not stop, it only
// learns on waking that `valid()` is false. Where two writers would do harm, pass `fence()` to the
// resource (docs/semantics.md).
class Lease {
 public:
  explicit Lease(std::shared_ptr<client::HeldLease> held) noexcept;
  Lease(Lease&&) noexcept;
  Lease& operator=(Lease&&) noexcept;
  ~Lease();

  const LockName& name() const noexcept;
  // The secret to renew or release this lease from elsewhere (Client::adopt). Do not log it.
  const OwnerId& owner() const noexcept;
  Fence fence() const noexcept;

  // What is left of the lease by this machine's clock, already shortened by the allowed drift.
  Duration remaining() const noexcept;
  // Compares the clock at every call; nothing is cached.
  bool valid() const noexcept;

  // Fires before anybody else can be granted the lock, as long as the store kept its data and
  // nobody forced the release; otherwise at the next contact with the store.
  std::stop_token lost() const noexcept;
  // Runs once, on Holdfast's own thread, when the lease is lost; at once if it already is. Keep it
  // short. Replaces an earlier callback; an empty one removes it.
  void on_lost(std::function<void(const Error&)> callback);

  // Gives the lock back and says what was found. Errors: unavailable, outcome_unknown (the lease
  // then ends by itself). A second release answers not_held. Not affected by any stop token.
  Result<Released> release();

  // From now on the lease lasts at least `ttl`, and renewals ask for `ttl`. Errors: lost,
  // bad_input, unavailable, outcome_unknown.
  Result<void> extend(Duration ttl);

  // Read-write locks only. Upgrade turns a shared lease into an exclusive one, waiting up to `wait`
  // for the other readers; the shared lease is kept meanwhile and on failure. Only one holder may
  // wait for an upgrade: a second gets busy at once, since both would wait for ever; where a store
  // cannot queue, nobody waits. The fence grows. Downgrade never waits and keeps the fence.
  Result<void> upgrade(Duration wait = {}, std::stop_token stop = {});
  Result<void> downgrade();

  // Lets go of the handle without releasing: renewal stops, the lock stays held until its ttl ends
  // or somebody adopts the owner that is returned. Right after a wait it takes a round trip, to
  // make a lease of what was handed over; if that fails, the lock is free within half a second.
  OwnerId detach();

 private:
  std::shared_ptr<client::HeldLease> held_;
};

}  // namespace holdfast
