// SPDX-License-Identifier: Apache-2.0
//
// n8n's primitives, whose commands come one by one and leave traces between them.
#include <holdfast/n8n.hpp>

#include "interop_fixture.hpp"

#include <ctime>
#include <iomanip>
#include <sstream>

namespace holdfast::test {
namespace {

class CounterLock : public InteropTest {
 protected:
  CounterLock() : InteropTest(peer_named("n8n")) {}

  static constexpr auto counter = "n8n-lock-orders";
  static constexpr auto text = "n8n-lock-orders:meta";
};

TEST_F(CounterLock, the_text_has_their_five_words_in_their_order) {
  auto lease = client.mutex("orders").acquire({.owner = "exec-7", .note = "nightly \"run\""});
  ASSERT_TRUE(is_ok(lease));
  EXPECT_EQ(raw.text({"GET", counter}), "1");
  const std::string words(R"re(\{"lock_id":"exec-7","workflow_id":"unknown",)re"
                          R"re("workflow_name":"nightly \\"run\\"",)re"
                          R"re("execution_id":"[^"]*counter_test.cpp:[0-9]+",)re"
                          R"re("locked_at":"20[0-9]{2}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:)re"
                          R"re([0-5][0-9]:[0-5][0-9]\.[0-9]{3}Z"\})re");
  const auto said = raw.text({"GET", text});
  EXPECT_THAT(said, testing::MatchesRegex(words));
}

TEST_F(CounterLock, the_time_in_the_text_is_the_servers) {
  auto lease = client.mutex("orders").acquire();
  ASSERT_TRUE(is_ok(lease));
  const auto said = raw.text({"GET", text});
  const auto at = said.find(R"("locked_at":")");
  ASSERT_NE(at, std::string::npos);
  std::tm told{};
  std::istringstream(said.substr(at + 13)) >> std::get_time(&told, "%Y-%m-%dT%H:%M:%S");
  EXPECT_NEAR(static_cast<double>(timegm(&told)), static_cast<double>(std::time(nullptr)), 60.0);
}

TEST_F(CounterLock, their_loser_sees_the_count_it_would_see_behind_one_of_theirs) {
  auto lease = client.mutex("orders").acquire({.ttl = 10s, .renew = false});
  ASSERT_TRUE(is_ok(lease));
  EXPECT_EQ(raw.integer({"INCR", counter}), 2);
}

TEST_F(CounterLock, their_loser_shortens_our_ttl_and_it_is_set_back_at_once) {
  auto lease = client.mutex("orders").acquire({.ttl = 600s, .renew = false});
  ASSERT_TRUE(is_ok(lease));
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(stranger.take("theirs", 60s));
    EXPECT_TRUE(eventually([&] { return stranger.ttl() > 500s; })) << "nobody stood up for it";
  }
  EXPECT_TRUE(lease->valid());
  EXPECT_EQ(lease->release(), Released::released);
  EXPECT_EQ(keys(), std::set<std::string>{"hf:fence"});
}

TEST_F(CounterLock, their_loser_lengthens_our_ttl_and_it_still_ends_when_it_should) {
  auto lease = client.mutex("orders").acquire({.ttl = 30s, .renew = false});
  ASSERT_TRUE(is_ok(lease));
  EXPECT_FALSE(stranger.take("theirs", 600s));
  EXPECT_TRUE(eventually([&] { return stranger.ttl() <= 30s; }));
  EXPECT_GT(stranger.ttl(), 0s);
}

TEST_F(CounterLock, a_ttl_that_was_shortened_while_nobody_listened_is_set_back_with_the_next_line) {
  auto lease = client.mutex("orders").acquire({.ttl = 600s, .renew = false});
  ASSERT_TRUE(is_ok(lease));
  raw.call({"CLIENT", "KILL", "TYPE", "pubsub"});
  raw.call({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
  raw.call({"INCR", counter});
  raw.call({"EXPIRE", counter, "60"});
  EXPECT_TRUE(eventually([&] { return raw.integer({"TTL", counter}) > 500; }));
}

TEST_F(CounterLock, whoever_asks_sets_back_what_a_loser_did_to_the_lock_of_a_process_that_is_gone) {
  const auto before = connections();
  ASSERT_TRUE(is_ok(
      n8n::acquire(open_client(), {.scope = "orders", .ttl_seconds = 600, .lock_id = "gone"})));
  ASSERT_TRUE(eventually([&] { return connections() == before; }));
  raw.call({"INCR", counter});
  raw.call({"EXPIRE", counter, "60"});
  EXPECT_LE(stranger.ttl(), 60s) << "somebody still defends it";
  EXPECT_EQ(code_of(client.mutex("orders").acquire()), "busy");
  EXPECT_GT(stranger.ttl(), 500s);
  EXPECT_GT(raw.integer({"PTTL", text}), 500'000);
  EXPECT_EQ(stranger.holder(), "gone");
}

TEST_F(CounterLock, renewals_in_the_background_set_back_what_their_losers_did) {
  auto lease = client.mutex("orders").acquire({.ttl = 600s, .renew_every = 100ms});
  ASSERT_TRUE(is_ok(lease));
  EXPECT_FALSE(stranger.take("theirs", 60s));
  EXPECT_TRUE(eventually([&] { return stranger.ttl() > 500s; }));
  EXPECT_TRUE(lease->valid());
}

TEST_F(CounterLock, a_counter_that_is_gone_is_a_lost_lease) {
  auto lease = client.mutex("orders").acquire({.ttl = 10s, .renew = false});
  ASSERT_TRUE(is_ok(lease));
  raw.call({"DEL", counter});  // as the end of a ttl that a loser shortened
  EXPECT_EQ(code_of(lease->extend(10s)), "lost");
  EXPECT_TRUE(lease->lost().stop_requested());
  EXPECT_EQ(keys(), std::set<std::string>{"hf:fence"})
      << "the text of a lost lease is cleared away";
  EXPECT_TRUE(stranger.take("theirs", 60s));
}

TEST_F(CounterLock, our_loser_changes_neither_their_counter_nor_its_ttl) {
  ASSERT_TRUE(stranger.take("theirs", 50s));
  const auto said = raw.text({"GET", text});
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(code_of(client.mutex("orders").acquire({.ttl = 60s})), "busy");
  }
  EXPECT_THAT(code_of(client.mutex("orders").acquire({.ttl = 60s, .wait = 30ms})), gave_up());
  EXPECT_EQ(raw.text({"GET", counter}), "1");
  EXPECT_LE(stranger.ttl(), 50s);
  EXPECT_LE(raw.integer({"PTTL", text}), 50'000);
  EXPECT_EQ(raw.text({"GET", text}), said);
}

TEST_F(CounterLock, a_counter_without_a_text_is_held_and_never_removed_by_us) {
  raw.call({"INCR", counter});
  EXPECT_EQ(code_of(client.mutex("orders").acquire()), "busy");
  EXPECT_EQ(client.inspect("orders")->holders.size(), 1U);
  auto turn = start_waiting();
  // The rest of their acquire.
  const auto before = questions();
  raw.call({"EXPIRE", counter, "60"});
  raw.call({"SET", text, R"({"lock_id":"theirs"})"});
  raw.call({"EXPIRE", text, "60"});
  ASSERT_TRUE(eventually([&] { return questions() > before; }));
  EXPECT_TRUE(is_waiting(turn));
  EXPECT_EQ(raw.text({"GET", counter}), "1");
  const auto released = SteadyClock::now();
  ASSERT_TRUE(stranger.release("theirs"));
  const auto [lease, at] = turn.get();
  ASSERT_TRUE(is_ok(lease));
  EXPECT_LT(at - released, at_most(told_at_once));
}

TEST_F(CounterLock, our_lease_is_lost_without_its_text_and_the_counter_is_left_alone) {
  auto lease = client.mutex("orders").acquire({.renew = false});
  ASSERT_TRUE(is_ok(lease));
  raw.call({"DEL", text});
  EXPECT_EQ(lease->release(), Released::held_by_another);
  EXPECT_EQ(raw.text({"GET", counter}), "1");
}

// Their winner's first command, before it has written its text.
TEST_F(CounterLock, a_counter_that_began_anew_beside_our_text_is_not_taken_for_ours) {
  auto lease = client.mutex("orders").acquire({.ttl = 30s, .renew = false});
  ASSERT_TRUE(is_ok(lease));
  raw.call({"MULTI"});
  raw.call({"DEL", counter});  // as the end of a ttl that a loser shortened
  raw.call({"INCR", counter});
  raw.call({"EXEC"});
  EXPECT_FALSE(lease->extend(30s));
  EXPECT_EQ(raw.text({"GET", counter}), "1");
}

// A loser that raised the counter of the one before: its EXPIRE comes when the lock is ours.
TEST_F(CounterLock, a_loser_whose_second_command_comes_late_costs_nobody_the_lock) {
  auto first = client.mutex("orders").acquire({.ttl = 60s, .renew = false});
  ASSERT_TRUE(is_ok(first));
  raw.call({"INCR", counter});
  ASSERT_EQ(first->release(), Released::released);
  auto second = client.mutex("orders").acquire({.ttl = 60s, .renew = false});
  ASSERT_TRUE(is_ok(second));
  raw.call({"EXPIRE", counter, "600"});
  EXPECT_TRUE(is_ok(second->extend(60s)));
  EXPECT_TRUE(eventually([&] { return stranger.ttl() <= 60s; }));
  EXPECT_EQ(second->release(), Released::released);
  EXPECT_EQ(keys(), std::set<std::string>{"hf:fence"});
}

TEST_F(CounterLock, what_their_text_says_of_the_holder_is_shown) {
  ASSERT_TRUE(stranger.take("theirs", 60s));
  for (int known = 0; known < 2; ++known) {
    const auto seen = client.inspect("orders");
    ASSERT_TRUE(is_ok(seen));
    ASSERT_EQ(seen->holders.size(), 1U);
    ASSERT_TRUE(seen->holders.front().metadata);
    EXPECT_EQ(seen->holders.front().metadata->source, "4711");
    EXPECT_EQ(seen->holders.front().metadata->note, "nightly");
    EXPECT_EQ(seen->holders.front().metadata->value, "wf");
    // From now on our own state knows of it too.
    EXPECT_EQ(code_of(client.mutex("orders").acquire()), "busy");
  }
}

TEST_F(CounterLock, words_that_cannot_be_shown_are_left_out) {
  for (const auto* said :
       {R"({"lock_id":"x","execution_id":{"a":1},"workflow_name":["b"],"workflow_id":null})",
        "{\"lock_id\":\"x\",\"execution_id\":\"\xff\xfe\",\"workflow_name\":\"\xc3\"}",
        R"({"lock_id":"x","execution_id":"a\u0000b","workflow_name":"c\nd"})"}) {
    raw.call({"SET", counter, "1", "EX", "60"});
    raw.call({"SET", text, said, "EX", "60"});
    const auto seen = client.inspect("orders");
    ASSERT_TRUE(is_ok(seen)) << said;
    ASSERT_EQ(seen->holders.size(), 1U);
    const auto& metadata = seen->holders.front().metadata;
    EXPECT_EQ(metadata ? metadata->source + metadata->note + metadata->value : "", "") << said;
    EXPECT_EQ(code_of(client.mutex("orders").acquire()), "busy") << said;
  }
  raw.call({"SET", text, R"({"lock_id":"x","execution_id":77,"workflow_name":"Bücher"})"});
  EXPECT_EQ(client.inspect("orders")->holders.front().metadata->source, "77");
  EXPECT_EQ(client.inspect("orders")->holders.front().metadata->note, "Bücher");
}

TEST_F(CounterLock, a_name_that_is_the_text_of_another_lock_is_refused_and_writes_nothing) {
  auto lease = client.mutex("orders").acquire({.ttl = 60s, .renew = false});
  ASSERT_TRUE(is_ok(lease));
  const auto said = raw.text({"GET", text});
  EXPECT_EQ(code_of(client.mutex("orders:meta").acquire()), "bad_input");
  EXPECT_EQ(code_of(client.inspect("orders:meta")), "bad_input");
  EXPECT_EQ(raw.text({"GET", text}), said);
  EXPECT_EQ(lease->release(), Released::released);
}

TEST_F(CounterLock, between_their_two_deletions_nobody_of_ours_comes) {
  ASSERT_TRUE(stranger.take("theirs", 60s));
  auto turn = start_waiting();
  raw.call({"DEL", counter});
  // Our waiter has asked, and gives them little time for the second.
  ASSERT_TRUE(eventually([&] { return raw.integer({"PTTL", text}) < 10'000; }));
  const bool still_waits = is_waiting(turn);
  EXPECT_TRUE(still_waits || stranger.holder() != "theirs");
  EXPECT_EQ(code_of(client.mutex("orders").acquire()), "busy");
  const auto released = SteadyClock::now();
  raw.call({"EVAL",
            "local said = redis.call('GET', KEYS[1]) "
            "return said and string.find(said, 'theirs', 1, true) and redis.call('DEL', KEYS[1])",
            "1", text});
  const auto [lease, at] = turn.get();
  ASSERT_TRUE(is_ok(lease));
  EXPECT_LT(at - released, at_most(300ms));
  EXPECT_EQ(stranger.holder(), lease->owner().str());
}

TEST_F(CounterLock, a_text_that_nobody_deletes_is_not_waited_for_long) {
  ASSERT_TRUE(stranger.take("theirs", 60s));
  auto turn = start_waiting();
  const auto removed = SteadyClock::now();
  raw.call({"DEL", counter});
  const auto [lease, at] = turn.get();
  ASSERT_TRUE(is_ok(lease));
  EXPECT_LT(at - removed, at_most(800ms));
  EXPECT_EQ(stranger.holder(), lease->owner().str());
}

TEST_F(CounterLock, a_text_that_is_no_json_is_the_name_of_its_owner) {
  raw.call({"SET", counter, "1", "EX", "60"});
  raw.call({"SET", text, "legacy-7", "EX", "60"});
  EXPECT_EQ(code_of(client.mutex("orders").acquire()), "busy");
  auto adopted = client.adopt("orders", "legacy-7");
  ASSERT_TRUE(is_ok(adopted));
  EXPECT_EQ(adopted->release(), Released::released);
  EXPECT_EQ(keys(), std::set<std::string>{"hf:fence"});
}

TEST_F(CounterLock, a_lock_id_that_is_no_text_belongs_to_nobody_we_know) {
  for (const auto* said : {R"({"lock_id":7})", R"({"lock_id":null})", "[1]", "7", "{}", "{"}) {
    raw.call({"SET", counter, "1", "EX", "60"});
    raw.call({"SET", text, said, "EX", "60"});
    EXPECT_EQ(code_of(client.mutex("orders").acquire()), "busy") << said;
    EXPECT_EQ(raw.text({"GET", text}), said);
  }
}

// Deletes what a failed execution left: by `execution_id`, which for us is where acquire was
// called.
TEST_F(CounterLock, their_clean_up_of_a_failed_execution_ends_our_lease) {
  auto lease = client.mutex("orders").acquire({.ttl = 60s, .renew_every = 50ms});
  ASSERT_TRUE(is_ok(lease));
  ASSERT_NE(raw.text({"GET", text}).find("counter_test.cpp"), std::string::npos);
  raw.call({"DEL", counter});
  raw.call({"DEL", text});
  EXPECT_TRUE(eventually([&] { return lease->lost().stop_requested(); }));
}

}  // namespace
}  // namespace holdfast::test
