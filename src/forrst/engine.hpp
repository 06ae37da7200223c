// SPDX-License-Identifier: Apache-2.0
//
// The way of a call, always in this order:
//
//   1. the envelope, the function and its version, the arguments, the options of every extension:
//      all of it must be good before anything is done
//   2. what the caller may do
//   3. rate limits
//   4. idempotency: an answer that is known is replayed, and nothing below happens
//   5. the lock
//   6. the function
//   7. the lock is given back, then the run is ended, then the answer is made
//
// Nothing of a call is kept in the engine: each has its own Turn.
#pragma once

#include "forrst/locks.hpp"
#include "forrst/registry.hpp"
#include "forrst/turn.hpp"
#include "forrst/worker_pool.hpp"

#include <memory>
#include <string_view>

namespace holdfast::forrst {

class Engine : public std::enable_shared_from_this<Engine> {
 public:
  Engine(std::shared_ptr<client::Core> core, ServiceOptions options, std::shared_ptr<Host> host);

  Registry& registry() { return registry_; }
  const ServiceOptions& options() const { return options_; }

  Task<Reply> answer(std::string_view body, Caller caller, std::stop_token stop);
  Reply refuse(int status, const Fault& fault) const;

  client::Core& core() { return *core_; }

 private:
  struct Job;  // what of a turn is done under a lock

  void add_system_functions();
  void add_lock_functions();
  std::string needed_name(const Turn& turn) const;
  std::expected<void, std::vector<Fault>> prepare(Turn& turn) const;
  // `self` keeps the engine until the answer is there.
  Task<Reply> run(std::shared_ptr<Engine> self, std::shared_ptr<Turn> turn);
  Task<Answered> run_limited(const Turn& turn);
  Task<Answered> run_once(const Turn& turn);
  Task<Answered> run_locked(const Turn& turn, Job& job);
  Task<Outcome> call(const Turn& turn, Job& job, Invocation invocation);
  Task<SystemOutcome> health(const Turn& turn);
  Reply finish(const Turn& turn, Answered answered) const;

  const std::shared_ptr<client::Core> core_;
  const ServiceOptions options_;
  const std::shared_ptr<Host> host_;
  Registry registry_;
  Locks locks_;
  WorkerPool pool_;
};

}  // namespace holdfast::forrst
