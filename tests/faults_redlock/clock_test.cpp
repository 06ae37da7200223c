// SPDX-License-Identifier: Apache-2.0
//
// Members whose wall clock is set while they hold something.
#include "faults_redlock/redlock_fixture.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <stdexcept>

namespace holdfast::faults {
namespace {

// The wall clock of one server; see shim/stepped_clock.cpp.
class WallClock {
 public:
  WallClock() {
    const int fd = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, sizeof(std::int64_t)) != 0) throw std::runtime_error(path_);
    void* const page =
        mmap(nullptr, sizeof(std::int64_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (page == MAP_FAILED) throw std::runtime_error(path_);
    offset_us_ = static_cast<volatile std::int64_t*>(page);
  }
  WallClock(const WallClock&) = delete;
  WallClock& operator=(const WallClock&) = delete;
  ~WallClock() { munmap(const_cast<std::int64_t*>(offset_us_), sizeof(std::int64_t)); }

  std::unique_ptr<test::RedisServer> start_server() const {
    setenv("HOLDFAST_CLOCK", path_.c_str(), 1);
    setenv("LD_PRELOAD", HOLDFAST_CLOCK_SHIM, 1);
    auto server = std::make_unique<test::RedisServer>();
    unsetenv("LD_PRELOAD");
    unsetenv("HOLDFAST_CLOCK");
    return server;
  }
  void step(Micros by) { *offset_us_ = *offset_us_ + by.count(); }

 private:
  test::TemporaryFolder folder_;
  const std::string path_ = folder_.path() / "clock";
  volatile std::int64_t* offset_us_ = nullptr;
};

Micros wall_time(const test::RedisServer& server) {
  const auto time = test::RawRedis(server).call({"TIME"});
  return std::chrono::seconds(std::stoll(time->element[0]->str)) +
         Micros(std::stoll(time->element[1]->str));
}

class Clock : public RedlockTest, public testing::WithParamInterface<std::chrono::seconds> {
 protected:
  Clock() : RedlockTest(3) {
    for (const WallClock& clock : clocks) add(clock.start_server());
  }

  std::array<WallClock, 2> clocks;  // of the last two servers
};

TEST_P(Clock, that_is_stepped_on_a_minority_lets_nobody_in) {
  const auto ours = open_all("retries=0");
  const auto theirs = open_all("retries=0");
  // Shorter than any of the steps.
  constexpr Micros ttl = 8s;
  auto lease = ours.mutex("orders").acquire({.ttl = ttl, .wait = 20s, .renew_every = 100ms});
  ASSERT_TRUE(is_ok(lease));
  for (WallClock& clock : clocks) {
    clock.step(GetParam());
    for (int i = 0; i < 4; ++i) {
      const auto other =
          decided([&] { return theirs.mutex("orders").acquire({.ttl = ttl, .wait = 100ms}); });
      ASSERT_EQ(code_of(other), "timed_out") << message_of(other);
      ASSERT_TRUE(gets_renewed(*lease));
      ASSERT_TRUE(lease->valid());
    }
  }
  const Micros apart = wall_time(server(4)) - wall_time(server(0));
  EXPECT_NEAR(static_cast<double>(apart.count()), Micros(GetParam()).count(), 5e6)
      << "the clock was not stepped";
  EXPECT_TRUE(is_released(lease->release()));
  auto next = theirs.mutex("orders").acquire({.ttl = 8s, .wait = 20s});
  ASSERT_TRUE(is_ok(next));
  EXPECT_GT(next->fence(), lease->fence());
  EXPECT_TRUE(is_released(next->release()));
  EXPECT_EQ(left_behind(), "");
}

TEST_P(Clock, that_is_stepped_between_grants_takes_no_fence_back) {
  const Client clients[] = {open_all(), open_all()};
  Fence last = 0;
  for (std::size_t i = 0; i < 24; ++i) {
    const auto by = i % 4 < 2 ? GetParam() : -GetParam();
    clocks[i % 2].step(by);
    auto lease = clients[i % 2].mutex("orders").acquire({.ttl = 8s, .wait = 20s});
    ASSERT_TRUE(is_ok(lease));
    EXPECT_GT(lease->fence(), last);
    last = lease->fence();
    if (i % 3 == 0) continue;  // The destructor releases, too.
    EXPECT_TRUE(is_ok(lease->release()));
  }
  EXPECT_EQ(left_behind(), "");
}

INSTANTIATE_TEST_SUITE_P(by, Clock, testing::Values(10s, -10s, 3600s, -3600s), [](const auto& by) {
  return fmt::format("{}_{}_s", by.param > 0s ? "plus" : "minus",
                     std::chrono::abs(by.param).count());
});

}  // namespace
}  // namespace holdfast::faults
