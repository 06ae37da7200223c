// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>

#include <coroutine>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>

namespace holdfast::server {

// One thread for what may block, such as reading a file; it is started with the first use.
class ReaderThread {
 public:
  void run(std::move_only_function<void()> job) {
    boost::asio::post(pool(), [job = std::move(job)]() mutable { job(); });
  }
  ~ReaderThread() {
    if (pool_) pool_->join();
  }

 private:
  boost::asio::thread_pool& pool() {
    std::call_once(started_, [this] { pool_.emplace(1); });
    return *pool_;
  }
  std::once_flag started_;
  std::optional<boost::asio::thread_pool> pool_;
};

// Awaiting it runs `work` there and resumes there.
template <typename T>
class OnReader {
 public:
  OnReader(ReaderThread& thread, std::function<T()> work)
      : thread_(thread), work_(std::move(work)) {}
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> handle) {
    thread_.run([this, handle] {
      result_.emplace(work_());
      handle.resume();
    });
  }
  T await_resume() { return std::move(*result_); }

 private:
  ReaderThread& thread_;
  std::function<T()> work_;
  std::optional<T> result_;
};

}  // namespace holdfast::server
