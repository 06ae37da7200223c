// SPDX-License-Identifier: Apache-2.0
//
// Threads for functions that block.
#pragma once

#include <holdfast/forrst/function.hpp>

#include "runtime/runtime.hpp"

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace holdfast::forrst {

class WorkerPool {
 public:
  // Threads start when they are first needed.
  WorkerPool(std::shared_ptr<runtime::Runtime> runtime, unsigned threads, std::size_t max_waiting);
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  // Waits for the work that is under way. What still waits for a thread is not done.
  ~WorkerPool();

  using Work = std::move_only_function<Outcome()>;
  // Runs the work on a thread of the pool and goes on on the runtime's own. UNAVAILABLE where too
  // many wait already. The work must not throw.
  Task<Outcome> run(Work work);

 private:
  struct Order;

  bool enqueue(const std::shared_ptr<Order>& order);
  void serve();

  const std::shared_ptr<runtime::Runtime> runtime_;
  const unsigned max_threads_;
  const std::size_t max_waiting_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // All below is guarded by mutex_.
  std::deque<std::shared_ptr<Order>> waiting_;
  std::size_t idle_ = 0;
  bool is_ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace holdfast::forrst
