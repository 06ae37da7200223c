// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/remote/late_acquires.hpp"
#include "runtime/runtime.hpp"
#include "store/store.hpp"

#include <functional>

namespace holdfast::backends::remote {

// Sends a release again that its acquire may have come behind: at once when the acquire is answered
// after all, and in a few rounds where it never is.
class Withdrawals : public std::enable_shared_from_this<Withdrawals> {
 public:
  using Send = std::function<Task<Result<store::Reply>>(store::Request)>;

  Withdrawals(std::shared_ptr<runtime::Runtime> runtime, Send send)
      : runtime_(std::move(runtime)), send_(std::move(send)) {}

  // Before a command is sent.
  void sending(const LockName& name, const model::Command& command);
  // To be called when nothing of the command is under way any more: see
  // net::http::ClientRequest::settled. Empty for what is no acquire.
  std::function<void(bool is_sure)> end_of(const LockName& name, const model::Command& command);

 private:
  struct Rounds {
    unsigned answered = 0;
    unsigned sent = 0;
  };

  void settled(const Meant& meant, bool is_sure);
  void release_later(const Meant& meant, Rounds so_far);
  void release_again(const Meant& meant, Rounds so_far);
  Task<Result<store::Reply>> release(LateAcquires::Again again);

  const std::shared_ptr<runtime::Runtime> runtime_;
  const Send send_;
  LateAcquires late_;
};

}  // namespace holdfast::backends::remote
