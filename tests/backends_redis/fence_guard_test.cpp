// SPDX-License-Identifier: Apache-2.0
//
// Fence guards where the server is more than one, or is shared with others.
#include "backends/redis/options.hpp"
#include "backends/redis/redis_store.hpp"
#include "redis_fixture.hpp"
#include "runtime/spawn.hpp"

namespace holdfast::test {
namespace {

class RedisGuard : public RedisTest {
 protected:
  using RedisTest::RedisTest;

  std::shared_ptr<store::Store> open_store(backends::redis::Options options = {}) {
    options.endpoint.port = server.port();
    return backends::redis::open_redis_store(std::move(options), runtime).value();
  }
  Result<model::GuardOutcome> check(store::Store& store, Fence fence) {
    store::Request request{.name = LockName::make("warehouse").value(),
                           .command = model::GuardCommand{.fence = fence},
                           .deadline = runtime->now() + 60s};
    auto reply = runtime::run_blocking(store.apply(std::move(request)));
    if (!reply) return std::unexpected(std::move(reply.error()));
    return std::get<model::GuardOutcome>(reply->outcome);
  }

  std::shared_ptr<runtime::Runtime> runtime = runtime::shared_runtime();
};

TEST_F(RedisGuard, stores_of_every_dialect_share_it) {
  const auto native = open_store();
  backends::redis::Options options;
  options.dialect = backends::redis::Dialect::make("plain", "", "").value();
  const auto plain = open_store(options);
  EXPECT_TRUE(check(*native, 100)->accepted);
  EXPECT_FALSE(check(*plain, 99)->accepted);
  EXPECT_EQ(raw.text({"GET", "hf:guard:{warehouse}"}), "100");
}

TEST_F(RedisGuard, a_server_that_forgot_its_scripts_is_told_again) {
  const auto store = open_store();
  EXPECT_TRUE(check(*store, 100)->accepted);
  raw.call({"SCRIPT", "FLUSH"});
  EXPECT_FALSE(check(*store, 99)->accepted);
}

TEST_F(RedisGuard, a_key_that_is_something_else_is_a_mismatch_and_stays) {
  raw.call({"SET", "hf:guard:{warehouse}", "mine"});
  const auto store = open_store();
  const auto outcome = check(*store, 100);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, Errc::spec_mismatch) << outcome.error().message;
  EXPECT_EQ(raw.text({"GET", "hf:guard:{warehouse}"}), "mine");
}

TEST_F(RedisGuard, a_fence_that_no_replica_confirms_is_not_accepted) {
  backends::redis::Options options;
  options.replicas = 1;
  options.replica_timeout = 20ms;
  const auto store = open_store(options);
  const auto outcome = check(*store, 100);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, Errc::not_replicated) << outcome.error().message;
  const auto older = check(*store, 99);
  ASSERT_TRUE(older) << older.error().message;
  EXPECT_EQ(older->newest, 100U) << "a refusal needs nobody to confirm it";
}

}  // namespace
}  // namespace holdfast::test
