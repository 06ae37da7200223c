// SPDX-License-Identifier: Apache-2.0
//
// Brings messages to the waiters of this process. Each store that notifies owns one.
#pragma once

#include "store/store.hpp"

#include <functional>
#include <memory>

namespace holdfast::store {

class Mailbox {
 public:
  // Told of a message that nobody here waits for any more, in order to give back what it brought
  // and the place in the queue. Called on the runtime's own thread, possibly while the store goes
  // away: capture it weakly.
  using Unwanted = std::function<void(const LockName&, const OwnerId&, model::RequestId)>;

  explicit Mailbox(std::shared_ptr<runtime::Runtime> runtime);
  ~Mailbox();

  // Once, before the first message.
  void on_unwanted(Unwanted unwanted);

  std::unique_ptr<Listening> listen(model::RequestId request, model::ProcessId process);
  bool hears(model::RequestId request) const;

  // Wakes the waiter, possibly resuming it inside this call: hold no lock of yours.
  void deliver(const LockName& name, const model::Message& message);
  // A hint by request alone, for stores whose messages carry no more.
  void hint(model::RequestId request);
  // A hint for everybody: messages may have been missed, or another server answers.
  void hint_all(bool store_changed = false);
  // The same, but many waiters are told one after the other, within half a second, so that their
  // questions are no herd.
  void hint_all_in_turn();

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace holdfast::store
