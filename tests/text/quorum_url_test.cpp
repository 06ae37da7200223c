// SPDX-License-Identifier: Apache-2.0
#include "text/quorum_url.hpp"

#include <holdfast/view.hpp>

#include "text/words.hpp"

#include <gtest/gtest.h>

#include <string>

namespace holdfast::text {
namespace {

QuorumUrl quorum_url_of(std::string_view url) {
  auto result = parse_quorum_url(url);
  if (result) return *std::move(result);
  ADD_FAILURE() << result.error().message;
  return {};
}

std::string refusal(std::string_view url) {
  const auto result = parse_quorum_url(url);
  if (result) {
    ADD_FAILURE() << url << " was taken";
    return {};
  }
  EXPECT_EQ(result.error().code, Errc::bad_input);
  return result.error().message;
}

TEST(QuorumUrl, is_known_by_its_scheme_in_any_case) {
  EXPECT_TRUE(is_quorum_url("redlock://a,b,c"));
  EXPECT_TRUE(is_quorum_url("RedLock://a,b,c"));
  EXPECT_TRUE(is_quorum_url("redlock://"));
  for (const auto* other : {"", "redlock", "redlock:", "redlock:/a", "redis://a,b", " redlock://a",
                            "xredlock://a", "redlockx://a"}) {
    EXPECT_FALSE(is_quorum_url(other)) << other;
  }
}

TEST(QuorumUrl, has_members_in_the_order_given) {
  const auto url = quorum_url_of("redlock://a:7001,b:7002,c");
  EXPECT_EQ(url.scheme, "redlock");
  ASSERT_EQ(url.members.size(), 3U);
  for (const auto& member : url.members) EXPECT_EQ(member.scheme, "redis");
  EXPECT_EQ(url.members[0].endpoints.at(0).host, "a");
  EXPECT_EQ(url.members[0].endpoints.at(0).port, 7001);
  EXPECT_EQ(url.members[1].endpoints.at(0).host, "b");
  EXPECT_EQ(url.members[1].endpoints.at(0).port, 7002);
  EXPECT_EQ(url.members[2].endpoints.at(0).host, "c");
  EXPECT_TRUE(url.options.empty());
}

TEST(QuorumUrl, a_member_may_be_what_a_redis_url_may_be) {
  const auto url =
      quorum_url_of("redlock://user:s%2Cecret@a:1/3,rediss://b:2,redis://[::1]:3/0,10.0.0.7");
  ASSERT_EQ(url.members.size(), 4U);
  EXPECT_EQ(url.members[0].user, "user");
  EXPECT_EQ(url.members[0].password, "s,ecret");
  EXPECT_EQ(url.members[0].path, parse_store_url("redis://a:1/3").value().path);
  EXPECT_EQ(url.members[1].scheme, "rediss");
  EXPECT_EQ(url.members[2].endpoints.at(0).host, "::1");
  EXPECT_EQ(url.members[3].endpoints.at(0).host, "10.0.0.7");
}

TEST(QuorumUrl, the_options_are_those_of_all) {
  const auto url = quorum_url_of("redlock://a,b,c?drift=0.02&timeout=100ms&fence=off");
  EXPECT_EQ(url.options.size(), 3U);
  EXPECT_EQ(url.options.at("drift"), "0.02");
  EXPECT_EQ(url.options.at("timeout"), "100ms");
  EXPECT_EQ(url.options.at("fence"), "off");
  for (const auto& member : url.members) EXPECT_TRUE(member.options.empty());
}

TEST(QuorumUrl, the_scheme_may_be_written_in_capitals) {
  EXPECT_EQ(quorum_url_of("REDLOCK://a,b,c").members.size(), 3U);
}

TEST(QuorumUrl, an_empty_member_is_refused_wherever_it_stands) {
  for (const auto* url : {"redlock://", "redlock://,a,b", "redlock://a,,b", "redlock://a,b,",
                          "redlock://?drift=0.1", "redlock://a,b,?drift=0.1"}) {
    EXPECT_NE(refusal(url).find("empty member"), std::string::npos) << url;
  }
}

TEST(QuorumUrl, only_redis_can_be_a_member) {
  for (const auto* url :
       {"redlock://a,b,http://c", "redlock://memory://x,b,c", "redlock://a,b,redlock://c"}) {
    EXPECT_NE(refusal(url).find("members are redis: or rediss:"), std::string::npos) << url;
  }
}

TEST(QuorumUrl, bad_members_and_bad_options_are_refused) {
  for (const auto* url :
       {"redlock://a:0,b,c", "redlock://a:65536,b,c", "redlock://a:x,b,c", "redlock://a b,c,d",
        "redlock://a,b,c?drift", "redlock://a,b,c?drift=1&drift=2", "redlock://a,b,c?x=%zz"}) {
    refusal(url);
  }
}

TEST(QuorumUrl, is_at_most_as_long_as_any_other) {
  std::string url = "redlock://a,b,";
  url += std::string(max_url_bytes + 1 - url.size(), 'c');
  EXPECT_NE(refusal(url).find("bytes long"), std::string::npos);
}

TEST(QuorumUrl, a_message_never_shows_a_password) {
  for (const auto* url :
       {"redlock://u:sesame@a,,b", "redlock://a,u:sesame@b:99999,c", "redlock://a,:sesame@b,",
        "redlock://u:sesame@a,b,c?drift", "redlock://a,http://u:sesame@b,c",
        "redlock://:sesame@a,:sesame@b,:sesame@c,", "redlock://a,b,c:sesame@",
        "redlock://u:sesame,open@a,b,c"}) {
    EXPECT_EQ(refusal(url).find("sesame"), std::string::npos) << refusal(url);
  }
}

TEST(StoreUrl, is_good_if_it_is_one_of_either_kind) {
  EXPECT_TRUE(check_store_url("redis://a:1/2"));
  EXPECT_TRUE(check_store_url("redlock://u:p@a:1/2,v:q@b:2/3,rediss://c"));
  EXPECT_EQ(check_store_url("redlock://a,http://b").error().code, Errc::bad_input);
  EXPECT_EQ(check_store_url("redis://a:x").error().code, Errc::bad_input);
}

TEST(MemberState, is_found_by_its_word) {
  using State = MemberView::State;
  for (const auto state :
       {State::free, State::held, State::unreachable, State::too_slow, State::refused}) {
    EXPECT_EQ(parse_member_state(to_string(state)), state);
  }
  EXPECT_EQ(parse_member_state("gone"), std::nullopt);
}

TEST(MemberState, has_a_stable_word) {
  using State = MemberView::State;
  EXPECT_EQ(to_string(State::free), "free");
  EXPECT_EQ(to_string(State::held), "held");
  EXPECT_EQ(to_string(State::unreachable), "unreachable");
  EXPECT_EQ(to_string(State::too_slow), "too_slow");
  EXPECT_EQ(to_string(State::refused), "refused");
}

}  // namespace
}  // namespace holdfast::text
