// SPDX-License-Identifier: Apache-2.0
#include "backends/redis/options.hpp"

#include "backends/redis/server_identity.hpp"
#include "backends/redis/tokens.hpp"
#include "runtime/runtime.hpp"
#include "support/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>

namespace holdfast::test {
namespace {

using namespace backends::redis;
using namespace std::chrono_literals;

Result<Options> options_of(std::string_view url) {
  auto parsed = text::parse_store_url(url);
  if (!parsed) return std::unexpected(parsed.error());
  return parse_options(*parsed);
}

TEST(RedisOptions, a_url_says_where_and_who) {
  const auto options = options_of("redis://me:s3cret@[::1]:7000/3?timeout=100ms&audit=9");
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->endpoint.host, "::1");
  EXPECT_EQ(options->endpoint.port, 7000);
  EXPECT_EQ(options->endpoint.database, 3U);
  EXPECT_EQ(options->endpoint.user, "me");
  EXPECT_EQ(options->endpoint.password, "s3cret");
  EXPECT_EQ(options->endpoint.command_timeout, 100ms);
  EXPECT_EQ(options->audit, 9U);
  EXPECT_FALSE(options->endpoint.tls);
  EXPECT_TRUE(options->dialect.is_native());
}

TEST(RedisOptions, a_path_without_a_host_is_a_unix_socket) {
  const auto options = options_of("redis:///run/redis.sock?db=2");
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->endpoint.unix_path, "/run/redis.sock");
  EXPECT_EQ(options->endpoint.database, 2U);
}

TEST(RedisOptions, rediss_takes_files_that_exist) {
  const TemporaryFolder folder;
  const std::string ca = folder.path() / "ca.pem";
  std::ofstream(ca) << "x";
  const auto options = options_of("rediss://host?ca=" + ca + "&sni=other.example");
  ASSERT_TRUE(options) << options.error().message;
  ASSERT_TRUE(options->endpoint.tls);
  EXPECT_EQ(options->endpoint.tls->ca_file, ca);
  EXPECT_EQ(options->endpoint.tls->server_name, "other.example");
}

TEST(RedisOptions, what_is_wrong_is_named) {
  struct Row {
    const char* url;
    const char* says;
  };
  for (const auto& [url, says] : std::initializer_list<Row>{
           {"redis:", "needs a host"},
           {"redis://a,b", "one host"},
           {"redis://host/x", "'db' must be a number"},
           {"redis://host?db=-1", "'db' must be a number"},
           {"redis://host?db=99999999999", "'db' must be a number"},
           {"redis://user@host", "needs a password"},
           {"redis://host?timeout=1ms", "'timeout' must be a duration from 10ms to 1m"},
           {"redis://host?timeout=soon", "'timeout' must be a duration"},
           {"redis://host?replica_timeout=1s", "'replica_timeout' must be a duration from 10ms"},
           {"redis://host?replicas=1000", "'replicas' must be a number from 0 to 100"},
           {"redis://host?audit=many", "'audit' must be a number"},
           {"redis://host?ca=/etc/passwd", "'ca' is only for rediss:"},
           {"rediss://host?ca=/nowhere", "'ca' names no file"},
           {"rediss://host?cert=/etc/passwd", "'cert' and 'key' go together"},
           {"redis://host?colour=red", "no option 'colour'"},
           {"redis://host?prefix=a:", "need a dialect"},
           {"redis://host?dialect=plain&prefix=a*", "'prefix' must not contain *"},
           {"redis://host?dialect=plain&prefix=a:&template=b*", "'prefix' and 'template'"},
           {"redis://host?dialect=plain&template=ab", "'template' must have one *"},
           {"redis://host?dialect=plain&template=*a*", "'template' must have one *"},
           {"redis://host?dialect=klingon", "no profile '' of dialect 'klingon'"},
           {"redis://host?profile=n8n&dialect=plain", "no profile 'n8n' of dialect 'plain'"}}) {
    const auto options = options_of(url);
    ASSERT_FALSE(options) << url;
    EXPECT_EQ(options.error().code, Errc::bad_input) << url;
    EXPECT_NE(options.error().message.find(says), std::string::npos)
        << url << ": " << options.error().message;
  }
}

TEST(RedisTokens, each_form_is_what_the_others_write_and_never_repeats) {
  struct Row {
    Token form;
    const char* pattern;
  };
  const auto runtime = runtime::shared_runtime();
  for (const auto& [form, pattern] : std::initializer_list<Row>{
           {Token::hex, "[0-9a-f]{32}"},
           {Token::uuid, "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"},
           {Token::redisx, "[0-9]+-[0-9]{13}-[0-9a-z]{15}"},
           {Token::base64, "[A-Za-z0-9+/]{21}[AQgw]=="},
           {Token::alphanumeric, "[0-9A-Za-z]{16}"},
           {Token::redisson, "[0-9a-f-]{36}:1"}}) {
    std::set<std::string> seen;
    for (int i = 0; i < 200; ++i) {
      const auto token = make_token(form, *runtime).str();
      EXPECT_THAT(token, testing::MatchesRegex(pattern));
      EXPECT_TRUE(seen.insert(token).second) << token;
    }
  }
}

TEST(RedisIdentity, tells_a_restart_a_failover_and_a_demotion_apart) {
  const std::string info =
      "# Server\r\nrun_id:aaa\r\n# Replication\r\nrole:master\r\nmaster_replid:bbb\r\n"
      "master_replid2:000\r\n";
  const auto first = identity_from(info, {});
  EXPECT_EQ(first, (ServerIdentity{"aaa", "bbb", "master", {}, {}}));
  EXPECT_EQ(difference({}, first), "");
  EXPECT_EQ(difference(first, identity_from("role:master\r\n", first)), "");
  EXPECT_NE(difference(first, identity_from("run_id:ccc\r\n", first)).find("restarted"),
            std::string::npos);
  EXPECT_NE(difference(first, identity_from("role:slave\r\n", first)).find("role"),
            std::string::npos);
  EXPECT_NE(difference(first, identity_from("master_replid:ddd\r\n", first)).find("failover"),
            std::string::npos);
  EXPECT_EQ(info_field(info, "run"), "");
  EXPECT_EQ(info_field("", "run_id"), "");
}

TEST(RedisOptions, fences_are_compared_with_the_clock_on_connecting_or_always) {
  EXPECT_FALSE(options_of("redis://h")->fence_clock_always);
  EXPECT_FALSE(options_of("redis://h?fence_clock=connect")->fence_clock_always);
  EXPECT_TRUE(options_of("redis://h?fence_clock=always")->fence_clock_always);
  EXPECT_EQ(options_of("redis://h?fence_clock=sometimes").error().code, Errc::bad_input);
}

}  // namespace
}  // namespace holdfast::test
