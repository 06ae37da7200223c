// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/fault_store.hpp"

#include <deque>
#include <memory>
#include <mutex>

namespace holdfast::test {

// A waiter's ear at the end of a bad line: messages get lost, come late, or wait until the line is
// no longer paused.
class FaultEar : public std::enable_shared_from_this<FaultEar> {
 public:
  FaultEar(std::shared_ptr<FaultStore> store, LockName name, OwnerId owner,
           model::RequestId request, std::shared_ptr<store::Listening> inner);

  Task<store::Notice> next(store::LocalTime deadline);
  void poke();
  model::ProcessId process() const;

  void resume();
  // The store behind the line is another one now.
  void listen_anew(store::Store& at);

 private:
  void receive(const store::Notice& notice);
  void arrive(const store::Notice& notice);
  // What is there to be told: a message that has come through, or the poke.
  std::optional<store::Notice> take();
  std::shared_ptr<store::Listening> inner() const;

  const std::shared_ptr<FaultStore> store_;
  const LockName name_;
  const OwnerId owner_;
  const model::RequestId request_;

  mutable std::mutex mutex_;
  // All below is guarded by mutex_.
  std::shared_ptr<store::Listening> inner_;
  std::deque<store::Notice> arrived_;
  std::deque<store::Notice> held_up_;  // until resume
  bool poked_ = false;
};

}  // namespace holdfast::test
