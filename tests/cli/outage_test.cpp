// SPDX-License-Identifier: Apache-2.0
//
// A store that is away is not a lock that is held: nobody skips a job for it.
#include "cli/holdfast_program.hpp"
#include "support/redis_server.hpp"

#include <gmock/gmock.h>

#include <filesystem>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class StoreAway : public Cli {
 protected:
  std::vector<std::string> on_redis(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"--store", redis.url()});
    return words(std::move(arguments));
  }
  // Waits behind another holder when this returns.
  std::unique_ptr<Program> wait_in_line(std::vector<std::string> arguments) {
    EXPECT_EQ(run(on_redis({"acquire", "job", "--ttl", "1h"}), with({})).code, 0);
    auto program = std::make_unique<Program>(on_redis(std::move(arguments)), with({}));
    EXPECT_TRUE(eventually([&] {
      return run(on_redis({"status", "--json", "job"}), with({})).out.contains("\"waiting_ms\"");
    }));
    return program;
  }

  RedisServer redis;
};

TEST_F(StoreAway, run_with_a_busy_code_exits_with_the_code_of_the_store) {
  auto program =
      wait_in_line({"run", "-w", stretched(5s), "-E", "0", "job", "--", "touch", path("ran")});
  redis.kill();
  EXPECT_EQ(program->wait(), 69) << program->err();
  EXPECT_THAT(program->err(), HasSubstr("'job': tried for "));
  EXPECT_THAT(program->err(), HasSubstr("was waiting behind 0"));
  EXPECT_FALSE(std::filesystem::exists(path("ran")));
}

TEST_F(StoreAway, acquire_does_not_call_it_a_wait_that_is_over) {
  auto program = wait_in_line({"acquire", "--wait", stretched(5s), "job"});
  redis.kill();
  EXPECT_EQ(program->wait(), 69) << program->err();
}

TEST_F(StoreAway, a_store_that_hangs_is_not_a_busy_lock_either) {
  auto program = wait_in_line({"run", "-w", stretched(5s), "-E", "0", "job", "--", "true"});
  redis.stop();
  const int code = program->wait();
  redis.cont();
  EXPECT_TRUE(code == 69 || code == 80) << code << ": " << program->err();
}

}  // namespace
}  // namespace holdfast::test
