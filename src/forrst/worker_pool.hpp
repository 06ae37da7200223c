// SPDX-License-Identifier: Apache-2.0
//
// Threads for functions that block.
#pragma once

#include <holdfast/forrst/function.hpp>

#include "runtime/runtime.hpp"

#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <stop_token>

namespace holdfast::forrst {

class WorkerPool {
 public:
  // Threads start when they are first needed.
  WorkerPool(std::shared_ptr<runtime::Runtime> runtime, unsigned threads, std::size_t max_waiting);
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  // Waits for the work that is under way; nobody may still wait for a thread. In a forked child,
  // where there are no threads, it does nothing.
  ~WorkerPool();

  enum class NotRun : std::uint8_t { too_many, stopped };
  using Work = std::move_only_function<Outcome()>;
  // Runs the work on a thread of the pool and goes on on the runtime's own. Work that is stopped
  // before it has a thread is not run. It must not throw.
  Task<std::expected<Outcome, NotRun>> run(Work work, std::stop_token stop);

 private:
  struct Order;
  struct Shared;

  const std::shared_ptr<runtime::Runtime> runtime_;
  const std::uint32_t generation_;
  Shared* shared_;
};

}  // namespace holdfast::forrst
