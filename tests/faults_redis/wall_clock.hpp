// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "faults_redis/shared_log.hpp"
#include "support/redis_server.hpp"
#include "support/temporary_folder.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace holdfast::faults {

// The wall clock of one server, which can be set at any time; see shim/stepped_clock.cpp.
class WallClock {
 public:
  WallClock();
  WallClock(const WallClock&) = delete;
  WallClock& operator=(const WallClock&) = delete;
  ~WallClock();

  // For the server whose clock this is.
  std::vector<std::string> environment() const;
  void step(std::chrono::microseconds by);
  // The same, and the log says so.
  void step(std::chrono::microseconds by, SharedLog& log);
  // How far it is ahead of the clock of this machine.
  std::chrono::microseconds ahead() const { return std::chrono::microseconds(*offset_us_); }

 private:
  test::TemporaryFolder folder_;
  const std::string path_ = folder_.path() / "clock";
  volatile std::int64_t* offset_us_ = nullptr;
};

// What a server says that the time is, since 1970.
std::chrono::microseconds wall_time(const test::RedisServer& server);

}  // namespace holdfast::faults
