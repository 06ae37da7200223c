// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/file/environment.hpp"
#include "runtime/event.hpp"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace holdfast::backends::file {

inline constexpr std::size_t max_queued_steps = 65536;

// A thread that enters the database for those who must not block, and for a durable store, where
// all steps that wait together share one synchronisation. Replies are brought by the runtime's own
// thread.
class Worker {
 public:
  Worker(std::shared_ptr<Environment> environment, std::shared_ptr<runtime::Runtime> runtime);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  // Nobody may wait any more. What was queued by coroutines that are gone is dropped.
  ~Worker();

  // The worker must live until they end.
  Task<Result<store::Reply>> apply(store::Request request);
  Task<Result<LockPage>> list(store::ListRequest request);

 private:
  struct Job;
  struct StepJob;
  struct ListJob;

  Result<void> enqueue(std::shared_ptr<Job> job);
  void run();
  void serve(WriterLock lock);
  void answer_those_out_of_patience();
  void answer_all(const Error& error);
  void finish(const Job& job);
  template <typename Condition>
  std::vector<std::shared_ptr<Job>> take_if(Condition wanted);

  const std::shared_ptr<Environment> environment_;
  const std::shared_ptr<runtime::Runtime> runtime_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::shared_ptr<Job>> queue_;  // guarded by mutex_
  bool stopping_ = false;                    // guarded by mutex_
  std::thread thread_;
};

}  // namespace holdfast::backends::file
