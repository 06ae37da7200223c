// SPDX-License-Identifier: Apache-2.0
//
// What inspect and list tell of shared locks, and URLs that make no sense.
#include "interop_fixture.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;
using testing::UnorderedElementsAre;

class LookingAtStrangers : public InteropTest, public testing::WithParamInterface<Peer> {
 protected:
  LookingAtStrangers() : InteropTest(GetParam()) {}

  std::vector<std::string> listed(std::string_view prefix = {}) {
    std::vector<std::string> names;
    auto page = client.list({.prefix = prefix});
    EXPECT_TRUE(is_ok(page));
    if (!page) return {};
    for (const auto& each : page->locks) names.push_back(each.name);
    return names;
  }
};

TEST_P(LookingAtStrangers, a_list_has_theirs_where_their_keys_can_be_told_and_ours_always) {
  Stranger others(peer, shared_server(), "theirs:1");
  ASSERT_TRUE(others.take("theirs", 60s));
  auto first = lock_of(client, "ours:1").acquire();
  auto second = lock_of(client, "ours:2").acquire();
  ASSERT_TRUE(is_ok(second));
  if (peer.before.empty()) {
    EXPECT_THAT(listed(), UnorderedElementsAre("ours:1", "ours:2"));
  } else {
    EXPECT_THAT(listed(), UnorderedElementsAre("ours:1", "ours:2", "theirs:1"));
    EXPECT_THAT(listed("theirs:"), UnorderedElementsAre("theirs:1"));
  }
  EXPECT_THAT(listed("ours:"), UnorderedElementsAre("ours:1", "ours:2"));
  EXPECT_THAT(listed("our*"), UnorderedElementsAre());
}

TEST_P(LookingAtStrangers, a_renewal_of_theirs_is_seen_although_our_waiter_knew_an_earlier_end) {
  ASSERT_TRUE(stranger.take("theirs", 60s));
  stranger.set_ttl(10s);
  auto turn = start_waiting();
  stranger.set_ttl(60s);
  const auto seen = client.inspect("orders");
  ASSERT_TRUE(is_ok(seen));
  ASSERT_EQ(seen->holders.size(), 1U);
  EXPECT_GT(seen->holders[0].remaining, 30s);
  EXPECT_EQ(seen->waiters.size(), 1U);
  stranger.remove();
  EXPECT_TRUE(is_ok(turn.get().lease));
}

TEST_P(LookingAtStrangers, our_lease_is_seen_as_long_as_their_key_says) {
  auto lease = lock().acquire({.ttl = 60s, .renew = false, .note = "mine"});
  ASSERT_TRUE(is_ok(lease));
  const auto whole = client.inspect("orders");
  ASSERT_EQ(whole->holders.size(), 1U);
  EXPECT_EQ(whole->holders[0].fence, lease->fence());
  ASSERT_TRUE(whole->holders[0].metadata);
  EXPECT_EQ(whole->holders[0].metadata->note, "mine");
  stranger.set_ttl(5s);
  const auto left = client.inspect("orders")->holders.at(0).remaining;
  // Whoever loses against a counter changes its ttl, so that it means nothing.
  if (peer.name == "n8n") {
    EXPECT_GT(left, 25s);
  } else {
    EXPECT_LE(left, 5s);
  }
  stranger.remove();
  EXPECT_TRUE(client.inspect("orders")->holders.empty());
}

TEST_P(LookingAtStrangers, our_lease_ends_when_it_was_asked_to_although_their_key_lasts_longer) {
  auto lease = lock().acquire({.ttl = 100ms, .renew = false});
  ASSERT_TRUE(is_ok(lease));
  const auto began = SteadyClock::now();
  auto next = lock().acquire({.wait = 60s});
  ASSERT_TRUE(is_ok(next));
  EXPECT_LT(SteadyClock::now() - began, at_most(400ms));
  ASSERT_TRUE(next->release());

  auto another = lock().acquire({.ttl = 50ms, .renew = false});
  ASSERT_TRUE(is_ok(another));
  EXPECT_TRUE(eventually([&] { return client.inspect("orders")->holders.empty(); }));
  EXPECT_TRUE(eventually([&] { return lock().acquire().has_value(); }));
}

INSTANTIATE_TEST_SUITE_P(Peers, LookingAtStrangers, testing::ValuesIn(every_peer()), by_peer);

class OddUrls : public InteropTest {
 protected:
  OddUrls() : InteropTest(peer_named("valkey")) {}
};

TEST_F(OddUrls, an_option_that_makes_no_sense_is_named) {
  struct Row {
    const char* options;
    const char* named;
  };
  for (const auto& [options, named] :
       std::initializer_list<Row>{{"?profile=nobody", "profile"},
                                  {"?dialect=klingon", "dialect"},
                                  {"?dialect=", "dialect"},
                                  {"?dialect=plain&template=locks", "template"},
                                  {"?dialect=plain&template=*:*", "template"},
                                  {"?dialect=plain&template=", "template"},
                                  {"?dialect=plain&prefix=a*", "prefix"},
                                  {"?dialect=plain&prefix=a:&template=b:*", "prefix"},
                                  {"?dialect=counter&profile=redisx", "profile"},
                                  {"?dialect=reentrant_hash&profile=n8n", "profile"},
                                  {"?dialect=native&profile=redisx", "profile"},
                                  {"?prefix=a:", "prefix"},
                                  {"?template=a:*", "template"}}) {
    const auto opened = open(shared_server().url() + options);
    ASSERT_EQ(code_of(opened), "bad_input") << options;
    EXPECT_THAT(opened.error().message, HasSubstr(named)) << options;
  }
}

TEST_F(OddUrls, two_dialects_on_one_name_exclude_each_other_only_if_their_keys_meet) {
  auto other = open_client("?dialect=plain&prefix=lock:");
  auto elsewhere = open_client("?profile=redisx");
  auto lease = lock().acquire();
  ASSERT_TRUE(is_ok(lease));
  EXPECT_EQ(code_of(other.mutex("orders").acquire()), "busy");
  EXPECT_TRUE(is_ok(elsewhere.mutex("orders").acquire()));
  auto reentrant = open_client("?profile=valkey&dialect=reentrant_hash");
  EXPECT_EQ(code_of(reentrant.reentrant("orders").acquire()), "spec_mismatch");
}

}  // namespace
}  // namespace holdfast::test
