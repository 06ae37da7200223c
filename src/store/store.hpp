// SPDX-License-Identifier: Apache-2.0
//
// A store is a place where one step happens atomically. It knows machines, not kinds of lock; the
// client knows kinds of lock, not stores.
#pragma once

#include <holdfast/task.hpp>

#include "model/machine.hpp"
#include "runtime/runtime.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace holdfast::store {

using runtime::LocalTime;

struct Request {
  LockName name;
  model::Command command;
  LocalTime deadline{};    // give up by then
  std::stop_token stop{};  // give up as soon as this fires
};

struct Reply {
  // The store's clock inside the step. Zero where it was not read, which may be so for grants to a
  // caller that did not queue.
  model::StoreTime at{};
  model::Outcome outcome;
};

// Why a wait ended.
struct Notice {
  enum class Reason : std::uint8_t {
    hint,      // ask again: something changed, or the subscription was confirmed anew
    granted,   // the hand-over came with it, see `grant`
    deadline,  // nothing came
    poked,     // poke() was called
  };
  Reason reason = Reason::hint;
  model::Grant grant{};
  // Another server may answer from now on: what was learned of the store's clock is void.
  bool store_changed = false;
};

// A waiter's ear. It hears everything from its making on, so it is made before the Acquire that
// queues; what is said between two calls of `next` is kept. Single consumer.
class Listening {
 public:
  virtual ~Listening() = default;
  // What the waiter puts into Acquire::process.
  virtual model::ProcessId process() const = 0;
  virtual Task<Notice> next(LocalTime deadline) = 0;
  // Ends `next` now, or the coming one. From any thread.
  virtual void poke() = 0;
};

struct ListRequest {
  model::Machine machine = model::Machine::lock;
  std::string prefix;
  std::string cursor;
  std::uint32_t limit = 100;
  LocalTime deadline{};
};

// How a caller that does not wait goes on trying.
struct Retry {
  std::uint32_t times = 0;
  Micros delay{};
  Micros jitter{};  // each delay is longer or shorter by up to this
};

struct Capabilities {
  bool queues = true;  // keeps waiters in order and notifies them; else clients ask again
  // `apply` is done when it returns: asking costs no more than a lock of a mutex.
  bool immediate = false;
  // What is behind the address can be replaced by something that knows less: see on_change.
  bool may_change = false;
  // What it does not grant it has taken back by itself, and late copies of that may still be on
  // their way: each try needs a request of its own.
  bool spends_requests = false;
  Retry retry{};
  // By how much the store's clock may run faster than ours, in parts per million: so much of every
  // lease is not believed in.
  std::uint32_t drift_ppm = 10'000;
  // The dialect whose keys it writes, as users call it; empty: Holdfast's own. Where a dialect
  // gives a name its key, nobody else needs to.
  std::string_view dialect{};
};

// Which server is behind an address, as far as it can be told: for stores that count votes.
struct Standing {
  std::string server;                 // the same for two addresses of one server; empty: not known
  std::string place;                  // with the same server: the same locks
  std::optional<LocalTime> up_since;  // not later than this; not known: none
  bool keeps_memory = false;          // what it granted survives a restart
  std::optional<LocalTime> replaced_at;  // another one was met where one was known
};

class Store {
 public:
  virtual ~Store() = default;

  // One atomic step. Errors: unavailable (surely nothing happened), outcome_unknown (it may have),
  // bad_input, cancelled (request.stop fired and surely nothing happened).
  virtual Task<Result<Reply>> apply(Request request) = 0;

  // Errors: unavailable, limit_reached.
  virtual Result<std::unique_ptr<Listening>> listen(const LockName& name, const OwnerId& owner,
                                                    model::RequestId request) = 0;

  virtual Task<Result<LockPage>> list(ListRequest request) = 0;

  // The newest first. Errors: unsupported where no trail is kept.
  virtual Task<Result<std::vector<LockEvent>>> history(LockName, std::uint32_t, LocalTime) {
    return Task<Result<std::vector<LockEvent>>>(
        fail(Errc::unsupported, describe() + " keeps no audit trail"));
  }

  // Refuses, with the reason, what this store cannot do soundly. Asked when a lock is made.
  virtual Result<void> supports(const model::LockSpec& spec) const = 0;

  virtual Capabilities capabilities() const = 0;

  // Called on the runtime's own thread, possibly while the store goes away, whenever what is behind
  // the address may no longer know what it granted: every lease should be confirmed. Once, before
  // the first command.
  virtual void on_change(std::function<void()>) {}

  // What was asked then or later was answered by what is behind the address now: leases that were
  // need not be confirmed. Settled before on_change is called.
  virtual LocalTime known_since() const { return LocalTime::max(); }

  // Settled before the first reply of a server, and again before on_change is called.
  virtual Standing standing() const { return {}; }

  // What an operator should know about this store's set-up, one sentence each. Errors: unavailable
  // or quorum_not_reached when it cannot be used, which must not pass for a set-up without flaws.
  virtual Task<Result<std::vector<std::string>>> diagnose(LocalTime) {
    return Task<Result<std::vector<std::string>>>(std::vector<std::string>{});
  }

  // How far the store's wall clock is ahead of this machine's; behind is negative. A store that has
  // no clock of its own is never off.
  virtual Task<Result<Micros>> clock_offset(LocalTime) {
    return Task<Result<Micros>>(Micros::zero());
  }

  // A fresh owner, in the form that other programs expect where they share the locks.
  virtual OwnerId fresh_owner(runtime::Runtime& runtime) const {
    const auto high = runtime.random();
    return OwnerId::from_random(high, runtime.random());
  }

  // For messages: the URL without secrets.
  virtual std::string describe() const = 0;
};

}  // namespace holdfast::store
