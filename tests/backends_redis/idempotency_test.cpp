// SPDX-License-Identifier: Apache-2.0
//
// Runs on a Redis whose replicas count.
#include "backends/redis/options.hpp"
#include "backends/redis/redis_store.hpp"
#include "redis_fixture.hpp"
#include "runtime/spawn.hpp"
#include "support/runs.hpp"

namespace holdfast::test {
namespace {

using model::RunCommand;
using model::RunOutcome;

class ReplicatedRuns : public RedisTest {
 protected:
  ReplicatedRuns()
      : RedisTest({"--repl-diskless-sync-delay", "0"}),
        replica({"--replicaof", "127.0.0.1", std::to_string(server.port())}) {
    EXPECT_TRUE(eventually([&] {
      raw.call({"SET", "probe", "1"});
      return raw.integer({"WAIT", "1", "100"}) == 1;
    }));
  }

  std::shared_ptr<store::Store> open_store(std::chrono::milliseconds replica_timeout) const {
    backends::redis::Options options;
    options.endpoint.port = server.port();
    options.replicas = 1;
    options.replica_timeout = replica_timeout;
    return backends::redis::open_redis_store(std::move(options), runtime).value();
  }
  Result<RunOutcome> ask(store::Store& store, RunCommand command) const {
    store::Request request{.name = LockName::make("order").value(),
                           .command = std::move(command),
                           .deadline = runtime->now() + 60s};
    auto reply = runtime::run_blocking(store.apply(std::move(request)));
    if (!reply) return std::unexpected(reply.error());
    return std::get<RunOutcome>(std::move(reply->outcome));
  }
  Errc error_of(store::Store& store, RunCommand command) const {
    const auto outcome = ask(store, std::move(command));
    return outcome ? Errc{} : outcome.error().code;
  }

  RedisServer replica;
  std::shared_ptr<runtime::Runtime> runtime = runtime::shared_runtime();
};

TEST_F(ReplicatedRuns, what_is_told_as_done_is_on_the_replica) {
  const auto store = open_store(300ms);
  RawRedis copy(replica);
  const auto status = [&] { return copy.text({"HGET", "idempotency:order", "status"}); };
  // A busy machine may keep the replica from answering in time, and every word may be repeated.
  const auto is_told_done = [&](const RunCommand& command) {
    return eventually([&] { return ask(*store, command).has_value(); });
  };
  ASSERT_TRUE(is_told_done(begin_as("ann")));
  EXPECT_EQ(status(), "processing");
  ASSERT_TRUE(is_told_done(complete_as("ann", {.body = "[]"})));
  EXPECT_EQ(status(), "completed");
  EXPECT_EQ(ask(*store, begin_as("ben")).value().answer.body, "[]");
}

// The second connection finds done what it asks for, and must not take that for confirmed.
TEST_F(ReplicatedRuns, a_word_said_again_over_another_connection_still_waits_for_the_replica) {
  const auto first = open_store(50ms);
  ASSERT_TRUE(ask(*first, look_at_run()));
  replica.stop();
  for (const auto& command :
       {begin_as("ann"), complete_as("ann"), begin_as("ben"), fail_as("ben", "why")}) {
    if (command.owner == "ben" && command.verb == RunCommand::Verb::begin) {
      raw.call({"DEL", "idempotency:order"});
    }
    EXPECT_EQ(error_of(*first, command), Errc::not_replicated);
    const auto second = open_store(50ms);
    EXPECT_EQ(error_of(*second, command), Errc::not_replicated);
  }
  replica.cont();
  EXPECT_TRUE(eventually([&] { return ask(*first, fail_as("ben", "why")).has_value(); }));
}

TEST_F(ReplicatedRuns, whoever_cannot_begin_safely_leaves_nothing_that_looks_abandoned) {
  const auto client = open(server.url() + "?replicas=1&replica_timeout=50ms").value();
  replica.stop();
  bool ran = false;
  const auto refused = client.idempotent("order", {}, [&](const holdfast::Run&) { ran = true; });
  EXPECT_FALSE(ran);
  EXPECT_EQ(refused.error().code, Errc::not_replicated);
  EXPECT_TRUE(eventually([&] { return raw.integer({"EXISTS", "idempotency:order"}) == 0; }));
  replica.cont();
}

}  // namespace
}  // namespace holdfast::test
