// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <coroutine>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace holdfast::server {

// One thread for what may block, such as reading a file; it is started with the first use.
class ReaderThread {
 public:
  ReaderThread();
  ReaderThread(const ReaderThread&) = delete;
  ReaderThread& operator=(const ReaderThread&) = delete;
  ~ReaderThread();  // after the last job

  void run(std::move_only_function<void()> job);

 private:
  struct Pool;

  std::once_flag started_;
  std::unique_ptr<Pool> pool_;
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
