// SPDX-License-Identifier: Apache-2.0
//
// One lock whose messages a test carries by hand: late, twice, crafted, or not at all.
#pragma once

#include "model/machine.hpp"
#include "store/mailbox.hpp"
#include "support/hand_runtime.hpp"

#include <memory>
#include <vector>

namespace holdfast::test {

class MessageStore final : public store::Store, public std::enable_shared_from_this<MessageStore> {
 public:
  static std::shared_ptr<MessageStore> make(std::shared_ptr<runtime::Runtime> clock);

  Task<Result<store::Reply>> apply(store::Request request) override;
  Result<std::unique_ptr<store::Listening>> listen(const LockName& name, const OwnerId& owner,
                                                   model::RequestId request) override;
  Task<Result<LockPage>> list(store::ListRequest request) override;
  Result<void> supports(const model::LockSpec&) const override { return {}; }
  store::Capabilities capabilities() const override { return {.queues = true}; }
  std::string describe() const override { return "messages:"; }

  // Brings a message to whoever waits for it, or has its grant given back.
  void deliver(const model::Message& message) { mailbox_.deliver(name_, message); }
  model::StoreTime now() const;

  std::vector<model::Message> messages;  // sent by the store and not delivered
  unsigned given_back = 0;               // grants that nobody wanted
  model::LockState state;

 private:
  explicit MessageStore(std::shared_ptr<runtime::Runtime> clock)
      : clock_(clock), mailbox_(std::move(clock)) {}

  const std::shared_ptr<runtime::Runtime> clock_;
  const LockName name_ = LockName::make("orders").value();
  store::Mailbox mailbox_;
  model::FenceCounter fences_{100};
};

}  // namespace holdfast::test
