// SPDX-License-Identifier: Apache-2.0
//
// What the program around a service adds to it. The functions here are what a library alone does.
#pragma once

#include <holdfast/forrst/service.hpp>

#include "client/take.hpp"

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::forrst {

enum class LockEnd : std::uint8_t { released, forced, lost };

struct Component {
  std::string name;  // "store"
  bool is_well = true;
  std::string message{};
  Duration latency{};
};

class Host {
 public:
  virtual ~Host() = default;

  // Takes a lock for the caller, or waits for it as `wanted` says. When `stop` fires, nothing is
  // held.
  virtual Task<client::TakeResult> take(std::shared_ptr<client::Core> core, const Caller& caller,
                                        client::Wanted wanted, std::stop_token stop);
  // A lock of the caller's came to its end.
  virtual void ended(const Caller& caller, const client::Wanted& wanted, Fence fence, LockEnd how);
  virtual void renewed(const Caller& caller, std::string_view name, Fence fence);
  // A call was answered; `code` is empty if it went well.
  virtual void answered(std::string_view function, std::string_view code);
  // What a run under an idempotency key came to.
  virtual void began(const Caller& caller, const LockName& name, const model::RunOutcome& outcome);
  // What the service rests on, for `health`. Must not throw.
  virtual Task<std::vector<Component>> components(std::shared_ptr<client::Core> core);
  // Nobody waits for a lock any more. What runs goes on, until `ending`.
  virtual std::stop_token draining() { return {}; }
  bool is_draining() { return draining().stop_requested(); }
  // Fires when what outlives its client has to end.
  virtual std::stop_token ending() { return {}; }
  // A call goes on without its client from now on, until what is returned goes away.
  virtual std::shared_ptr<void> under_way() { return nullptr; }
  // For operators, not for callers.
  virtual void complain(std::string_view what, std::string_view why);
};

}  // namespace holdfast::forrst
