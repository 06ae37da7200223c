// SPDX-License-Identifier: Apache-2.0
#include "text/url.hpp"

#include "support/random_text.hpp"

#include <gtest/gtest.h>

#include <string>

namespace holdfast::text {
namespace {

StoreUrl store_url_of(std::string_view url) {
  auto result = parse_store_url(url);
  if (result) return *std::move(result);
  ADD_FAILURE() << result.error().message;
  return {};
}

TEST(Url, a_store_in_memory_may_have_a_name) {
  EXPECT_EQ(store_url_of("memory:").scheme, "memory");
  EXPECT_EQ(store_url_of("memory:").path, "");
  EXPECT_EQ(store_url_of("memory:shared").path, "shared");
  EXPECT_EQ(store_url_of("MEMORY:Shared").scheme, "memory");
  EXPECT_EQ(store_url_of("MEMORY:Shared").path, "Shared");
}

TEST(Url, a_file_has_a_path_and_options) {
  const auto url = store_url_of("file:/var/lib/holdfast?durable=yes&size=1g");
  EXPECT_EQ(url.scheme, "file");
  EXPECT_EQ(url.path, "/var/lib/holdfast");
  EXPECT_TRUE(url.endpoints.empty());
  EXPECT_EQ(url.options.at("durable"), "yes");
  EXPECT_EQ(url.options.at("size"), "1g");
  EXPECT_EQ(store_url_of("file:").path, "");
  EXPECT_EQ(store_url_of("file:///var/lib").path, "/var/lib");
  EXPECT_EQ(store_url_of("file:relative/path").path, "relative/path");
  EXPECT_EQ(store_url_of("file:/my%20locks/%C3%BC").path, "/my locks/ü");
}

TEST(Url, a_server_has_hosts_ports_and_a_user) {
  const auto url = store_url_of("redis://app:s%40cret@10.0.0.1:6380/2");
  EXPECT_EQ(url.user, "app");
  EXPECT_EQ(url.password, "s@cret");
  EXPECT_EQ(url.endpoints, (std::vector<Endpoint>{{"10.0.0.1", 6380}}));
  EXPECT_EQ(url.path, "/2");
  EXPECT_EQ(store_url_of("redis://localhost").endpoints, (std::vector<Endpoint>{{"localhost", 0}}));
  EXPECT_EQ(store_url_of("redis://[::1]:6379").endpoints, (std::vector<Endpoint>{{"::1", 6379}}));
}

TEST(Url, a_quorum_has_several_hosts) {
  const auto url = store_url_of("redlock://u:p,q@a,b:7001,[::1]:7002/0?drift=1ms");
  EXPECT_EQ(url.password, "p,q");
  EXPECT_EQ(url.endpoints, (std::vector<Endpoint>{{"a", 0}, {"b", 7001}, {"::1", 7002}}));
  EXPECT_EQ(url.path, "/0");
  EXPECT_EQ(url.options.at("drift"), "1ms");
}

TEST(Url, a_bad_one_is_refused_with_the_reason) {
  struct Case {
    std::string url;
    std::string_view reason;
  };
  for (const auto& [url, reason] : {
           Case{"", "must not be empty"},
           Case{std::string(max_url_bytes + 1, 'x'), "at most 4096 bytes"},
           Case{"localhost", "is malformed"},
           Case{"/var/lib/holdfast", "is malformed"},
           Case{":x", "is malformed"},
           Case{"file:/my locks", "is malformed"},
           Case{"file:/bad%zz", "is malformed"},
           Case{"file:/\xc3\xbc", "is malformed"},
           Case{"redis://host:port", "is malformed"},
           Case{"redis://host:99999", "not from 1 to 65535"},
           Case{"redis://host:0", "not from 1 to 65535"},
           Case{"redlock://a,,b", "empty host"},
           Case{"redlock://,b", "empty host"},
           Case{"redlock://a,b:x", "malformed host \"b:x\""},
           Case{"redlock://a,b,a", "names the host \"a\" twice"},
           Case{"file:/x?durable=yes&durable=no", "option \"durable\" twice"},
           Case{"file:/x?durable", "option \"durable\" without a value"},
           Case{"file:/x?durable=", "option \"durable\" without a value"},
           Case{"file:/x?=yes", "option without a name"},
           Case{"file:/x?a=b&", "option without a name"},
           Case{"file:/x#part", "#fragment"},
           Case{"file:/x%00y", "control characters"},
           Case{"file:/x?a=%0A", "control characters"},
           Case{"redis://a%00b", "control characters"},
       }) {
    const auto result = parse_store_url(url);
    ASSERT_FALSE(result) << url;
    EXPECT_EQ(result.error().code, Errc::bad_input);
    EXPECT_NE(result.error().message.find(reason), std::string::npos) << result.error().message;
  }
}

TEST(Url, a_password_is_never_shown) {
  EXPECT_EQ(masked("redis://app:secret@host:6379/2"), "redis://app:***@host:6379/2");
  EXPECT_EQ(masked("redis://:secret@host"), "redis://:***@host");
  EXPECT_EQ(masked("redis://app@host"), "redis://app@host");
  EXPECT_EQ(masked("redlock://u:p,q@a,b:7001"), "redlock://u:***@a,b:7001");
  EXPECT_EQ(masked("http://host/?token=abc&x=1&password=p"),
            "http://host/?token=***&x=1&password=***");
  EXPECT_EQ(masked("http://host:80/a@b?note=c:d@e"), "http://host:80/a@b?note=c:d@e");
  EXPECT_EQ(masked("file:/a:b@c"), "file:/a:b@c");
  EXPECT_EQ(masked("memory:"), "memory:");
  EXPECT_EQ(masked(""), "");
}

TEST(Url, the_password_of_every_member_of_a_quorum_is_masked) {
  for (const auto& [url, shown] : {
           std::pair{"redlock://a:1,b:2,c", "redlock://a:1,b:2,c"},
           std::pair{"redlock://a:1/2,[::1]:6379/3,c/4?grace=30s",
                     "redlock://a:1/2,[::1]:6379/3,c/4?grace=30s"},
           std::pair{"redlock://u:one@a:1,v:two@b:2/3,:three@c",
                     "redlock://u:***@a:1,v:***@b:2/3,:***@c"},
           std::pair{"redlock://a:1/2,v:two@b:2/3,c:3", "redlock://a:1/2,v:***@b:2/3,c:3"},
           std::pair{"REDLOCK://rediss://u:one@a,redis://b:2/1,rediss://:two@c:3",
                     "REDLOCK://rediss://u:***@a,redis://b:2/1,rediss://:***@c:3"},
           std::pair{"redlock://u:one@a,u:p%2Cq@b,me@c?password=two&drift=0.1",
                     "redlock://u:***@a,u:***@b,me@c?password=***&drift=0.1"},
       }) {
    EXPECT_EQ(masked(url), shown);
  }
}

TEST(Url, what_may_be_a_part_of_a_members_password_is_masked_too) {
  for (const std::string url :
       {"redlock://a:1,u:se,cret@b,c", "redlock://u:1,cret@b", "redlock://u:1,2,cret@b,v:cret@c",
        "redlock://a,u:se/cret@b,c", "redlock://a,u:se?cret@b,c", "redlock://u:se@cret@a,b,c",
        "redlock://rediss://u:se,cret@a,b", "redlock://a,b,v:cret@",
        "redlock://:cret@a,:cret@b/x"}) {
    EXPECT_EQ(masked(url).find("cret"), std::string::npos) << masked(url);
  }
}

TEST(Url, a_password_is_not_shown_by_a_malformed_url_either) {
  for (const std::string url :
       {"redis://app:se/cret@host", "redis://app:se?cret@host", "redis://app:se cret@host",
        "redis://:secret@a,:secret@b", "redis://app:secret@host:bad", "redis://app:sec@ret@host",
        "redis://host:0?password=secret"}) {
    EXPECT_EQ(masked(url).find("cret"), std::string::npos) << masked(url);
    const auto result = parse_store_url(url);
    if (result) continue;
    EXPECT_EQ(result.error().message.find("cret"), std::string::npos) << result.error().message;
  }
}

TEST(Url, random_text_does_no_harm) {
  test::Random random;
  for (int round = 0; round < 50'000; ++round) {
    const auto text =
        round % 2 == 0 ? "a:" + random.text_of("ab:/?#[]@,%20=&.1", 40) : random.bytes(40);
    const auto result = parse_store_url(text);
    static_cast<void>(masked(text));
    if (result) continue;
    EXPECT_EQ(result.error().code, Errc::bad_input);
  }
}

}  // namespace
}  // namespace holdfast::text
