// SPDX-License-Identifier: Apache-2.0
#include "forrst/worker_pool.hpp"

#include "runtime/event.hpp"

#include <optional>
#include <system_error>
#include <utility>

namespace holdfast::forrst {

struct WorkerPool::Order {
  Order(std::shared_ptr<runtime::Runtime> runtime, Work work)
      : done(std::move(runtime)), work(std::move(work)) {}
  runtime::Event done;
  Work work;
  std::optional<Outcome> outcome{};
};

namespace {

Fault too_many() {
  return {.code = std::string(codes::unavailable),
          .message = "Too many calls wait for a thread; try again later"};
}

}  // namespace

WorkerPool::WorkerPool(std::shared_ptr<runtime::Runtime> runtime, unsigned threads,
                       std::size_t max_waiting)
    : runtime_(std::move(runtime)), max_threads_(threads), max_waiting_(max_waiting) {}

WorkerPool::~WorkerPool() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  changed_.notify_all();
  for (auto& thread : threads_) thread.join();
}

bool WorkerPool::enqueue(const std::shared_ptr<Order>& order) {
  const std::lock_guard lock(mutex_);
  if (is_ending_ || waiting_.size() >= max_waiting_) return false;
  if (idle_ <= waiting_.size() && threads_.size() < max_threads_) {
    try {
      threads_.emplace_back([this] { serve(); });
    } catch (const std::system_error&) {
      if (threads_.empty()) return false;
    }
  }
  waiting_.push_back(order);
  changed_.notify_one();
  return true;
}

void WorkerPool::serve() {
  std::unique_lock lock(mutex_);
  while (true) {
    ++idle_;
    changed_.wait(lock, [this] { return is_ending_ || !waiting_.empty(); });
    --idle_;
    if (is_ending_) return;
    const auto order = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    order->outcome.emplace(order->work());
    order->work = {};
    // From the runtime's thread: whoever goes on now must not do so on a thread that it may wait
    // for.
    runtime_->post([order] { order->done.notify(); });
    lock.lock();
  }
}

Task<Outcome> WorkerPool::run(Work work) {
  const auto order = std::make_shared<Order>(runtime_, std::move(work));
  if (!enqueue(order)) co_return std::unexpected(too_many());
  co_await order->done.wait_until(runtime::LocalTime::max());
  co_return std::move(*order->outcome);
}

}  // namespace holdfast::forrst
