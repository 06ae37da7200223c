// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/file/environment.hpp"
#include "store/mailbox.hpp"

#include <memory>
#include <thread>

namespace holdfast::backends::file {

// The ear of a store: a thread that has a slot of the wake file for as long as it lives, sleeps
// there, and hands what it hears to the mailbox. Waiters are resumed on it.
class Listener {
 public:
  // Returns once the slot is taken, which waits for no other process. Errors: limit_reached,
  // unavailable.
  static Result<std::unique_ptr<Listener>> start(std::shared_ptr<Environment> environment,
                                                 std::shared_ptr<store::Mailbox> mailbox,
                                                 std::uint64_t random);
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  // May run on the listener's own thread, when a waiter that it resumed was the last user.
  ~Listener();

  model::ProcessId process() const noexcept;

 private:
  struct Ear;
  explicit Listener(std::shared_ptr<Ear> ear) : ear_(std::move(ear)) {}

  std::shared_ptr<Ear> ear_;
  std::thread thread_;
};

}  // namespace holdfast::backends::file
