// SPDX-License-Identifier: Apache-2.0
#include "forrst/worker_pool.hpp"

#include "runtime/event.hpp"
#include "runtime/fork.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace holdfast::forrst {

struct WorkerPool::Order {
  Order(std::shared_ptr<runtime::Runtime> runtime, Work work, std::stop_token stop)
      : done(std::move(runtime)), work(std::move(work)), stop(std::move(stop)) {}
  runtime::Event done;
  Work work;
  std::stop_token stop;
  std::expected<Outcome, NotRun> outcome = std::unexpected(NotRun::stopped);
};

struct WorkerPool::Shared {
  Shared(std::shared_ptr<runtime::Runtime> runtime, unsigned threads, std::size_t waiting)
      : runtime(std::move(runtime)), max_threads(threads), max_waiting(waiting) {}

  bool enqueue(const std::shared_ptr<Order>& order);
  // True if it still waited for a thread, and does so no longer.
  bool take_out(const std::shared_ptr<Order>& order);
  void serve();
  // From the runtime's thread: whoever goes on then must not do so on a thread that it may wait
  // for.
  void tell(const std::shared_ptr<Order>& order) const {
    runtime->post([order] { order->done.notify(); });
  }

  const std::shared_ptr<runtime::Runtime> runtime;
  const unsigned max_threads;
  const std::size_t max_waiting;
  std::mutex mutex;
  std::condition_variable changed;
  // All below is guarded by mutex.
  std::deque<std::shared_ptr<Order>> waiting;
  std::size_t idle = 0;
  bool is_ending = false;
  std::vector<std::thread> threads;
};

bool WorkerPool::Shared::enqueue(const std::shared_ptr<Order>& order) {
  const std::lock_guard lock(mutex);
  if (is_ending || waiting.size() >= max_waiting) return false;
  if (idle <= waiting.size() && threads.size() < max_threads) {
    try {
      threads.emplace_back([this] { serve(); });
    } catch (const std::system_error&) {
      if (threads.empty()) return false;
    }
  }
  waiting.push_back(order);
  changed.notify_one();
  return true;
}

bool WorkerPool::Shared::take_out(const std::shared_ptr<Order>& order) {
  const std::lock_guard lock(mutex);
  return std::erase(waiting, order) > 0;
}

void WorkerPool::Shared::serve() {
  std::unique_lock lock(mutex);
  while (true) {
    ++idle;
    changed.wait(lock, [this] { return is_ending || !waiting.empty(); });
    --idle;
    if (is_ending) return;
    const auto order = std::move(waiting.front());
    waiting.pop_front();
    lock.unlock();
    if (!order->stop.stop_requested()) order->outcome = order->work();
    order->work = {};
    tell(order);
    lock.lock();
  }
}

WorkerPool::WorkerPool(std::shared_ptr<runtime::Runtime> runtime, unsigned threads,
                       std::size_t max_waiting)
    : runtime_(std::move(runtime)),
      generation_(runtime::fork_generation()),
      shared_(new Shared(runtime_, threads, max_waiting)) {}

WorkerPool::~WorkerPool() {
  // In a child its threads are the parent's, and so may be its mutex: it is left as it is.
  if (runtime::fork_generation() != generation_) return;
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->is_ending = true;
  }
  shared_->changed.notify_all();
  for (auto& thread : shared_->threads) thread.join();
  delete shared_;
}

Task<std::expected<Outcome, WorkerPool::NotRun>> WorkerPool::run(Work work, std::stop_token stop) {
  const auto order = std::make_shared<Order>(runtime_, std::move(work), std::move(stop));
  if (!shared_->enqueue(order)) co_return std::unexpected(NotRun::too_many);
  const std::stop_callback on_stop(order->stop, [this, &order] {
    if (shared_->take_out(order)) shared_->tell(order);
  });
  co_await order->done.wait_until(runtime::LocalTime::max());
  co_return std::move(order->outcome);
}

}  // namespace holdfast::forrst
