// SPDX-License-Identifier: Apache-2.0
//
// A store behind a bad line. It wraps another store and does to each command what a script says:
// refuse it, lose it, lose its answer, be late. It can be paused, emptied and made unable to queue,
// and it remembers everything that was asked.
#pragma once

#include "store/store.hpp"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace holdfast::test {

enum class Verb : std::uint8_t {
  acquire,
  renew,
  release,
  inspect,
  force_release,
  check_fence,
  count_hit,
  run_begin,
  run_renew,
  run_complete,
  run_fail,
  run_abandon,
  run_look,
  run_forget
};

struct Fault {
  enum class Kind : std::uint8_t {
    none,
    refuse,         // unavailable at once; nothing happened
    lose_request,   // silence until the deadline, then outcome_unknown; nothing happened
    lose_reply,     // done, silence until the deadline, then outcome_unknown
    delay_request,  // done after `delay`, even if the caller has given up by then
    delay_reply,    // done at once, answered after `delay`
  };
  Kind kind = Kind::none;
  Micros delay{};

  static Fault none() { return {}; }
  static Fault refuse() { return {Kind::refuse, {}}; }
  static Fault lose_request() { return {Kind::lose_request, {}}; }
  static Fault lose_reply() { return {Kind::lose_reply, {}}; }
  static Fault delay_request(Micros delay) { return {Kind::delay_request, delay}; }
  static Fault delay_reply(Micros delay) { return {Kind::delay_reply, delay}; }
};

// One command as it left the client, and what the client was told in the end.
struct Sent {
  Verb verb = Verb::acquire;
  store::Request request;
  store::LocalTime at{};
  std::optional<Result<store::Reply>> told;
};

class FaultEar;

class FaultStore final : public store::Store, public std::enable_shared_from_this<FaultStore> {
 public:
  // Makes the wrapped store, now and each time this one is emptied.
  using Make = std::function<std::shared_ptr<store::Store>()>;
  static std::shared_ptr<FaultStore> over(std::shared_ptr<runtime::Runtime> runtime, Make make);
  // Another line to the same store, with faults of its own: another client.
  std::shared_ptr<FaultStore> another_line() const;

  // The next `count` commands of this verb meet the fault, once `after` of them have passed.
  // Scripts for one verb are used up one after the other.
  void script(Verb verb, Fault fault, unsigned count = 1, unsigned after = 0);
  // Asked for every command that no script covers.
  void decide_by(std::function<Fault(Verb)> decide);

  // While paused nothing gets through: commands hang until their deadline (unavailable) or until
  // `resume`, which lets those go on that still wait. Messages wait for `resume` too.
  void pause();
  void resume();
  // The store loses all its data, for every line. Who listens is heard again, and told to ask.
  void empty();
  void set_queues(bool queues);
  // It says that what is behind it may be replaced.
  void set_may_change(bool may_change);

  // The next `count` messages to waiters on this line disappear.
  void lose_notices(unsigned count);
  // Every message to a waiter on this line comes this much later.
  void delay_notices(Micros delay);

  unsigned count(Verb verb) const;
  std::vector<Sent> history() const;
  std::vector<Sent> history(Verb verb) const;
  // A late copy of a command reaches the store; nobody reads the answer.
  void send_again(const Sent& sent);

  Task<Result<store::Reply>> apply(store::Request request) override;
  Result<std::unique_ptr<store::Listening>> listen(const LockName& name, const OwnerId& owner,
                                                   model::RequestId request) override;
  Task<Result<LockPage>> list(store::ListRequest request) override;
  Result<void> supports(const model::LockSpec& spec) const override;
  store::Capabilities capabilities() const override;
  std::string describe() const override { return "fault:" + inner()->describe(); }

  // Without any fault.
  std::shared_ptr<store::Store> inner() const;

 private:
  friend class FaultEar;
  struct Place;
  struct Call;
  struct Script {
    Fault fault;
    unsigned after = 0;
    unsigned count = 0;
  };

  FaultStore(std::shared_ptr<runtime::Runtime> runtime, std::shared_ptr<Place> place)
      : runtime_(std::move(runtime)), place_(std::move(place)) {}

  std::size_t remember(Verb verb, const store::Request& request);
  Fault next_fault(Verb verb);
  std::optional<Micros> fate_of_notice();  // nothing: lost
  bool paused() const;
  std::vector<std::shared_ptr<FaultEar>> ears() const;

  Task<Result<store::Reply>> carry(store::Request request, Fault fault, std::size_t entry);
  Task<Result<store::Reply>> deliver(store::Request request, Fault fault);
  Task<std::optional<Error>> wait_while_paused(store::LocalTime deadline, std::stop_token stop);

  const std::shared_ptr<runtime::Runtime> runtime_;
  const std::shared_ptr<Place> place_;

  mutable std::mutex mutex_;
  // All below is guarded by mutex_.
  std::map<Verb, std::deque<Script>> scripts_;
  std::function<Fault(Verb)> decide_;
  bool paused_ = false;
  bool queues_ = true;
  bool may_change_ = false;
  unsigned notices_to_lose_ = 0;
  Micros notice_delay_{};
  std::deque<Sent> history_;
  std::map<Verb, unsigned> counts_;
  std::vector<std::weak_ptr<Call>> sleepers_;
  std::vector<std::weak_ptr<FaultEar>> ears_;
};

}  // namespace holdfast::test
