// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "report.hpp"

#include <sys/types.h>

#include <chrono>
#include <map>
#include <optional>
#include <string>

namespace tour {

// The worker processes, and the pipe on which they report. Whoever is left is killed with it.
class Crew {
 public:
  explicit Crew(std::string store);
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  ~Crew();

  // Starts this very program again, as a worker. Throws std::system_error.
  void start(const Job& job);
  void send(const std::string& who, int signal) const;
  // Waits until the worker has ended.
  void join(const std::string& who);
  // The next report; nothing if none comes in time.
  std::optional<Report> next(std::chrono::milliseconds patience);

 private:
  std::optional<Report> take_line();

  const std::string store_;
  int reading_ = -1;
  int writing_ = -1;
  std::string unread_;
  std::map<std::string, pid_t> workers_;
};

}  // namespace tour
