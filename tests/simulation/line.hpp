// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "simulation/calls.hpp"
#include "simulation/recorder.hpp"
#include "store/mailbox.hpp"
#include "store/store.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace holdfast::client {
class HeldLease;
}

namespace holdfast::simulation {

// Takes the requests of a line to the server.
class Carrier {
 public:
  virtual ~Carrier() = default;
  virtual void carry(history::ProcessId from, CallId call, store::Request request) = 0;
  // Whether a server may have heard the command.
  virtual bool was_sent(history::ProcessId, CallId) const { return true; }
  // It was not answered in time, and nobody waits for its reply any more.
  virtual void heard_nothing(history::ProcessId, CallId) {}
};

// What a process has for a store: a connection for commands, whose replies may come late or never,
// and one for messages. It does what every store of a remote server has to do, and no more.
class Line final : public store::Store {
 public:
  Line(history::ProcessId id, std::shared_ptr<Process> process, const Plan& plan,
       Recorder& recorder, Carrier& carrier);
  // Over a whole store of its own, to which nothing is added but what is written down.
  Line(history::ProcessId id, std::shared_ptr<Process> process, const Plan& plan,
       Recorder& recorder, std::shared_ptr<store::Store> store);

  Task<Result<store::Reply>> apply(store::Request request) override;
  Result<std::unique_ptr<store::Listening>> listen(const LockName& name, const OwnerId& owner,
                                                   model::RequestId request) override;
  Task<Result<LockPage>> list(store::ListRequest request) override;
  Result<void> supports(const model::LockSpec&) const override { return {}; }
  store::Capabilities capabilities() const override {
    if (store_) return store_->capabilities();
    return {.queues = plan_.store_queues,
            .may_change = plan_.servers.count > 0,
            .drift_ppm = plan_.drift_ppm};
  }
  void on_change(std::function<void()> changed) override {
    if (store_) return store_->on_change(std::move(changed));
    on_change_ = std::move(changed);
  }
  runtime::LocalTime known_since() const override {
    return store_ ? store_->known_since() : Store::known_since();
  }
  std::string describe() const override { return "a simulated store"; }

  // From the network.
  void answer(CallId call, Result<store::Reply> reply) { calls_.end(call, std::move(reply)); }
  void tell(const LockName& name, const model::Message& message) {
    mailbox_.deliver(name, message);
  }
  void subscribed_again() { mailbox_.hint_all(); }
  // Another server may answer from now on.
  void changed();
  bool waits_for(CallId call) const { return calls_.waits_for(call); }
  // Every command in flight ends with an unknown outcome.
  void break_connection() { calls_.end_all_unknown("connection reset"); }
  // The process is gone: nothing leaves any more, and nothing it says is written down.
  void hang_up();
  bool is_gone() const { return gone_; }

  // Whose process a message is for, and who in it.
  model::ProcessId address(model::RequestId request) const;
  static history::ProcessId process_of(model::ProcessId address);
  bool hears(model::RequestId request) const { return mailbox_.hears(request); }

  // Leases whose renewals are written down as beliefs.
  struct Watched {
    OpId op = 0;
    OpId converting = 0;  // the attempt to upgrade it
    OpId upgraded = 0;    // the same once it has succeeded
    const client::HeldLease* lease = nullptr;
  };
  void watch(Watched watched) { watched_.push_back(watched); }
  void unwatch(OpId op);
  Watched* watched(OpId op);

  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

 private:
  Task<Result<store::Reply>> send(store::Request request);
  void note_sent(const model::LockCommand& command);
  void note_answered(OpId renewed, OpId asked, Time sent, const Result<store::Reply>& reply);
  void give_back(const LockName& name, const OwnerId& owner, model::RequestId request);

  const history::ProcessId id_;
  const std::shared_ptr<Process> process_;
  const Plan& plan_;
  Recorder& recorder_;
  Carrier* const carrier_ = nullptr;
  std::shared_ptr<store::Store> store_;
  store::Mailbox mailbox_;
  bool gone_ = false;
  Calls calls_;
  std::function<void()> on_change_;
  std::vector<Watched> watched_;
};

}  // namespace holdfast::simulation
