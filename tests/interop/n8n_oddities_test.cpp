// SPDX-License-Identifier: Apache-2.0
//
// What callers and other programs may do that n8n's primitives never would.
#include "n8n_fixture.hpp"

namespace holdfast::test {
namespace {

TEST_F(N8n, whoever_only_waits_has_nothing_to_release) {
  ASSERT_TRUE(is_ok(n8n::acquire(client, {.scope = "orders", .lock_id = "holder"})));
  auto waiting = std::async(std::launch::async, [&] {
    return n8n::acquire(client, {.scope = "orders", .max_wait_seconds = 60, .lock_id = "waiter"});
  });
  ASSERT_TRUE(eventually([&] { return client.inspect("orders")->waiters.size() == 1; }));
  EXPECT_EQ(code_of(n8n::release(client, "orders", "waiter")), "not_owner");
  EXPECT_EQ(code_of(try_once("orders")), "busy");
  ASSERT_TRUE(is_ok(n8n::release(client, "orders", "holder")));
  EXPECT_TRUE(is_ok(waiting.get()));
}

TEST_F(N8n, who_may_wait_no_time_is_told_that_it_is_over) {
  nodes.acquire("orders", "theirs", 600);
  const auto failed = n8n::acquire(client, {.scope = "orders", .max_wait_seconds = 0});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, Errc::timed_out);
  EXPECT_EQ(failed.error().message,
            "Lock acquisition timed out after 0s waiting for scope 'orders'.");
}

TEST_F(N8n, a_lock_id_in_any_language_is_released) {
  for (const std::string id : {"B\u00fccher", "\u65e5\u672c \U0001f512"}) {
    ASSERT_EQ(nodes.acquire("orders", id, 600), 1);
    EXPECT_EQ(code_of(n8n::release(client, "orders", "wrong")), "not_owner");
    const auto released = n8n::release(client, "orders", id);
    ASSERT_TRUE(is_ok(released)) << id;
    EXPECT_FALSE(released->idempotent);
    ASSERT_TRUE(is_ok(n8n::acquire(client, {.scope = "orders", .lock_id = id})));
    EXPECT_TRUE(nodes.release("orders", id));
    EXPECT_THAT(keys(), testing::Each(testing::HasSubstr(":hf")));
    EXPECT_TRUE(n8n::release(client, "orders", id)->idempotent);
  }
}

TEST_F(N8n, what_a_text_says_of_the_execution_counts_whatever_else_is_in_it) {
  for (const auto* text :
       {R"({"lock_id":7,"execution_id":"dead"})", R"({"execution_id":"dead"})",
        R"({"lock_id":null,"execution_id":"dead","locked_at":"0001-01-01T00:00:00.000Z"})",
        R"({"lock_id":"x","execution_id":"dead","locked_at":"1969-12-31T23:59:59.999Z"})",
        R"({"lock_id":"x","execution_id":"dead","locked_at":"9999-99-99T99:99:99.999Z"})",
        R"({"lock_id":"x","execution_id":"dead","locked_at":[{}]})"}) {
    for (int known = 0; known < 2; ++known) {
      nodes.incr("n8n-lock-orders", 600);
      nodes.set("n8n-lock-orders:meta", text, 600);
      if (known == 1) {
        EXPECT_EQ(code_of(try_once("orders")), "busy") << text;
      }
      EXPECT_TRUE(is_ok(client.inspect("orders"))) << text;
      EXPECT_TRUE(is_ok(client.list())) << text;
      const auto refused = n8n::release(client, "orders", "wrong");
      ASSERT_FALSE(refused);
      EXPECT_THAT(refused.error().message, testing::HasSubstr("execution: dead)")) << text;
      const auto done = n8n::clean_up(client, {.execution_id = "dead"});
      ASSERT_TRUE(is_ok(done)) << text;
      EXPECT_THAT(done->found, testing::ElementsAre("orders")) << text;
      EXPECT_THAT(keys(), testing::IsEmpty());
    }
  }
}

TEST_F(N8n, texts_that_are_absurd_hold_a_lock_and_break_nothing) {
  const std::string deep = std::string(5000, '[') + std::string(5000, ']');
  const std::string big = R"({"lock_id":")" + std::string(1 << 20, 'x') + R"("})";
  const std::string binary("\0\xff\n\x80", 4);
  for (const auto& text : {deep, big, binary, std::string("1e999"), std::string("null")}) {
    nodes.incr("n8n-lock-orders", 600);
    nodes.set("n8n-lock-orders:meta", text, 600);
    EXPECT_EQ(code_of(try_once("orders")), "busy");
    EXPECT_EQ(client.list()->locks.size(), 1U);
    EXPECT_EQ(code_of(n8n::release(client, "orders", "wrong")), "not_owner");
    EXPECT_EQ(nodes.get("n8n-lock-orders:meta"), text);
    raw.call({"FLUSHALL"});
  }
}

TEST_F(N8n, clean_up_finds_locks_in_every_layout_that_it_can_take_them_in) {
  for (const auto* options : {"", "?profile=redisx"}) {
    raw.call({"FLUSHALL"});
    auto other = open(shared_server().url() + options);
    ASSERT_TRUE(is_ok(other));
    ASSERT_TRUE(is_ok(n8n::acquire(*other, {.scope = "a", .execution_id = "dead"})));
    ASSERT_TRUE(is_ok(n8n::acquire(*other, {.scope = "b", .execution_id = "alive"})));
    const auto done = n8n::clean_up(*other, {.execution_id = "dead"});
    ASSERT_TRUE(is_ok(done));
    EXPECT_THAT(done->found, testing::ElementsAre("a")) << options;
  }
}

// What is no text of ours is called by its hash, and must not be taken for nobody.
TEST_F(N8n, a_holder_is_seen_whatever_bytes_it_is_called_by) {
  for (const std::string name :
       {"\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf0\x80\x80\x80", "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80", "\xc2\x80", "\xe2\x80\xa8", "\xc2\xe2\x82\xac\x80", "\xe2\x82", "\x80",
        "\xef\xbf\xbf", "\xf4\x8f\xbf\xbf", "\xc3\xbc", "\x7f", " "}) {
    nodes.incr("n8n-lock-orders", 600);
    nodes.set("n8n-lock-orders:meta", name, 600);
    for (int known = 0; known < 2; ++known) {
      EXPECT_EQ(client.inspect("orders")->holders.size(), 1U) << testing::PrintToString(name);
      EXPECT_EQ(code_of(n8n::release(client, "orders", "wrong")), "not_owner")
          << testing::PrintToString(name);
      EXPECT_EQ(code_of(try_once("orders")), "busy") << testing::PrintToString(name);
    }
    raw.call({"FLUSHALL"});
  }
}

}  // namespace
}  // namespace holdfast::test
