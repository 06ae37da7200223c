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
  // A grant that nobody here waits for any more.
  using Unwanted = std::function<void(const LockName&, const OwnerId&, model::RequestId)>;

  Mailbox(std::shared_ptr<runtime::Runtime> runtime, Unwanted unwanted);
  ~Mailbox();

  std::unique_ptr<Listening> listen(const LockName& name, const OwnerId& owner,
                                    model::RequestId request, model::ProcessId process);

  // Wakes the waiter, possibly resuming it inside this call: hold no lock of yours. A grant that
  // finds nobody is reported as unwanted, from the runtime's own thread.
  void deliver(const LockName& name, const model::Message& message);
  // A hint by request alone, for stores whose messages carry no more.
  void hint(model::RequestId request);
  // A hint for everybody: messages may have been missed.
  void hint_all();

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace holdfast::store
