// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "simulation/calls.hpp"
#include "simulation/quorum/member.hpp"
#include "store/mailbox.hpp"

#include <memory>
#include <string>
#include <vector>

namespace holdfast::simulation::quorum {

struct LineId {
  std::size_t client = 0;
  std::size_t member = 0;
};

// One command as it leaves.
struct Sent {
  CallId call = 0;
  std::uint32_t connection = 0;
  std::uint32_t run = 0;  // of the server at the other end; 0: the connection is being made
  store::Request request;
};

class Carrier {
 public:
  virtual ~Carrier() = default;
  virtual void carry(const LineId& from, Sent sent) = 0;
  // Whether a connection is given up because a command on it was not answered in time.
  virtual bool gives_up_on_silence() = 0;
};

// What a client has of one member: a connection for commands and one for messages. It says who is
// behind the address in the way the Redis store does.
class Line final : public store::Store {
 public:
  Line(LineId id, std::shared_ptr<Process> process, Carrier& carrier);

  Task<Result<store::Reply>> apply(store::Request request) override;
  Result<std::unique_ptr<store::Listening>> listen(const LockName& name, const OwnerId& owner,
                                                   model::RequestId request) override;
  Task<Result<LockPage>> list(store::ListRequest request) override;
  Result<void> supports(const model::LockSpec&) const override { return {}; }
  store::Capabilities capabilities() const override { return {.queues = true, .may_change = true}; }
  void on_change(std::function<void()> changed) override {
    on_change_.push_back(std::move(changed));
  }
  store::Standing standing() const override { return standing_; }
  std::string describe() const override;

  // From the network. What comes by a connection that was given up is not heard.
  void answer(std::uint32_t connection, const Identity& who, CallId call,
              Result<store::Reply> reply);
  void refused(std::uint32_t connection, CallId call, Errc code);
  void tell(const LockName& name, const model::Message& message) {
    mailbox_.deliver(name, message);
  }
  void subscribed_again() { mailbox_.hint_all(); }
  void break_connection();  // every command in flight ends with an unknown outcome
  // The process is gone.
  void hang_up();
  bool is_gone() const { return gone_; }
  bool waits_for(CallId call) const { return calls_.waits_for(call); }

 private:
  void meet(const Identity& who);
  void hear_nothing(CallId call);
  void give_back(const LockName& name, const OwnerId& owner, model::RequestId request);

  const LineId id_;
  const std::shared_ptr<Process> process_;
  Carrier& carrier_;
  store::Mailbox mailbox_;
  store::Standing standing_;
  std::vector<std::function<void()>> on_change_;
  bool gone_ = false;
  bool was_connected_ = false;
  std::uint32_t connection_ = 1;
  std::uint32_t run_ = 0;
  Calls calls_;
};

}  // namespace holdfast::simulation::quorum
