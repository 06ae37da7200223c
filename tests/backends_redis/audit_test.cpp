// SPDX-License-Identifier: Apache-2.0
#include "redis_fixture.hpp"

namespace holdfast::test {
namespace {

class RedisAudit : public RedisTest {};

TEST_F(RedisAudit, the_trail_tells_who_had_the_lock_and_how_it_ended) {
  auto client = open_client("?audit=100");
  auto first = client.mutex("orders").acquire({.note = "first"});
  ASSERT_TRUE(first);
  const auto fence = first->fence();
  ASSERT_TRUE(first->release());
  auto second = client.mutex("orders").acquire({.note = "second"});
  ASSERT_TRUE(second);
  ASSERT_TRUE(client.force_release("orders", "test"));
  auto short_lived = client.mutex("orders").acquire({.ttl = 20ms, .renew = false});
  ASSERT_TRUE(short_lived);
  ASSERT_TRUE(eventually([&] { return client.mutex("orders").acquire().has_value(); }));

  const auto events = client.history("orders");
  ASSERT_TRUE(events) << events.error().message;
  std::vector<std::string> words;
  for (const auto& event : *events) words.push_back(event.what);
  words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(words.size()) - 7);
  EXPECT_EQ(words, (std::vector<std::string>{"granted", "expired", "granted", "forced", "granted",
                                             "released", "granted"}));
  const auto& oldest = events->back();
  EXPECT_EQ(oldest.fence, fence);
  ASSERT_TRUE(oldest.metadata);
  EXPECT_EQ(oldest.metadata->note, "first");
  const auto age = std::chrono::system_clock::now() - oldest.at;
  EXPECT_LT(age, 1min);
  EXPECT_EQ(client.history("orders", 2)->size(), 2U);
}

TEST_F(RedisAudit, the_trail_is_bounded_and_never_shows_an_owner) {
  auto client = open_client("?audit=50");
  for (int i = 0; i < 500; ++i) {
    ASSERT_TRUE(client.mutex("orders").acquire({.owner = "secret-token"}));
  }
  EXPECT_LE(raw.integer({"XLEN", "hf:{orders}:log"}), 250);
  const auto reply = raw.call({"XRANGE", "hf:{orders}:log", "-", "+"});
  ASSERT_GT(reply->elements, 0U);
  for (std::size_t i = 0; i < reply->elements; ++i) {
    const auto& fields = *reply->element[i]->element[1];
    for (std::size_t f = 0; f < fields.elements; ++f) {
      const std::string text(fields.element[f]->str, fields.element[f]->len);
      EXPECT_EQ(text.find("secret-token"), std::string::npos);
    }
  }
}

TEST_F(RedisAudit, without_the_option_nothing_is_kept) {
  auto client = open_client();
  ASSERT_TRUE(client.mutex("orders").acquire());
  EXPECT_EQ(client.history("orders").error().code, Errc::unsupported);
  EXPECT_EQ(raw.integer({"EXISTS", "hf:{orders}:log"}), 0);
}

TEST_F(RedisAudit, clients_with_and_without_a_trail_share_a_lock) {
  auto with = open_client("?audit=10");
  auto without = open_client();
  auto lease = without.mutex("orders").acquire();
  ASSERT_TRUE(lease);
  EXPECT_EQ(with.mutex("orders").acquire().error().code, Errc::busy);
  ASSERT_TRUE(lease->release());
  auto again = with.mutex("orders").acquire();
  ASSERT_TRUE(again);
  EXPECT_EQ(without.mutex("orders").acquire().error().code, Errc::busy);
}

}  // namespace
}  // namespace holdfast::test
