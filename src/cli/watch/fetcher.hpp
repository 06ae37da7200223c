// SPDX-License-Identifier: Apache-2.0
//
// Looks at the store again and again on a thread of its own, so that keys work while a store does
// not answer.
#pragma once

#include "cli/look/gather.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

namespace holdfast::cli {

class Fetcher {
 public:
  Fetcher(Client client, std::string prefix, Duration every);
  Fetcher(const Fetcher&) = delete;
  Fetcher& operator=(const Fetcher&) = delete;
  ~Fetcher();

  // Readable when there is something to take.
  int fd() const { return fd_; }
  // The newest look, once.
  std::optional<Result<Gathered>> take();

 private:
  void run(std::stop_token stop, const Client& client, const std::string& prefix, Duration every);

  int fd_;
  std::mutex mutex_;
  std::condition_variable_any woken_;
  std::optional<Result<Gathered>> newest_;  // guarded by mutex_
  std::jthread thread_;                     // the last, so that it ends first
};

}  // namespace holdfast::cli
