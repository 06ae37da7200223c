// SPDX-License-Identifier: Apache-2.0
#include "faults_redis/wall_clock.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <stdexcept>

namespace holdfast::faults {

WallClock::WallClock() {
  const int fd = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0 || ftruncate(fd, sizeof(std::int64_t)) != 0) throw std::runtime_error(path_);
  void* const page = mmap(nullptr, sizeof(std::int64_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (page == MAP_FAILED) throw std::runtime_error(path_);
  offset_us_ = static_cast<volatile std::int64_t*>(page);
}

WallClock::~WallClock() { munmap(const_cast<std::int64_t*>(offset_us_), sizeof(std::int64_t)); }

std::vector<std::string> WallClock::environment() const {
  return {"HOLDFAST_CLOCK=" + path_, "LD_PRELOAD=" HOLDFAST_CLOCK_SHIM};
}

void WallClock::step(std::chrono::microseconds by) { *offset_us_ = *offset_us_ + by.count(); }

void WallClock::step(std::chrono::microseconds by, SharedLog& log) {
  log.add({.number = std::chrono::nanoseconds(by).count(), .what = What::clock_stepped});
  step(by);
}

std::chrono::microseconds wall_time(const test::RedisServer& server) {
  const auto time = test::RawRedis(server).call({"TIME"});
  return std::chrono::seconds(std::stoll(time->element[0]->str)) +
         std::chrono::microseconds(std::stoll(time->element[1]->str));
}

}  // namespace holdfast::faults
