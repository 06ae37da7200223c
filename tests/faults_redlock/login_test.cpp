// SPDX-License-Identifier: Apache-2.0
//
// Members that are reached in different ways, and URLs that reach nobody.
#include "certificates.hpp"
#include "faults_redlock/redlock_fixture.hpp"

#include <fmt/format.h>

#include <fstream>

namespace holdfast::faults {
namespace {

using test::RedisServer;
using testing::Not;

Result<Released> take_and_release(const Client& client) {
  auto lease = client.mutex("orders").acquire({.wait = 20s});
  if (!lease) return std::unexpected(lease.error());
  return lease->release();
}

TEST(Login, each_member_has_a_user_and_a_password_of_its_own) {
  RedisServer first({"--requirepass", "first,secret"});
  RedisServer second({"--user", "worker", "on", ">second", "~*", "&*", "+@all"});
  RedisServer third;
  const auto url = [&](const std::string& password) {
    return fmt::format("redlock://:{}@{},worker:second@{},{}?retries=0&timeout=10s&grace=0s",
                       password, address_of(first.port()), address_of(second.port()),
                       address_of(third.port()));
  };
  const auto client = must_open(url("first%2Csecret"));
  third.kill();
  EXPECT_TRUE(is_released(take_and_release(client)));
  const auto wrong = open(url("wrong-one"));
  ASSERT_EQ(code_of(wrong), "quorum_not_reached");
  EXPECT_THAT(message_of(wrong), HasSubstr(address_of(first.port())));
  EXPECT_THAT(message_of(wrong), Not(HasSubstr("wrong-one")));
}

TEST(Login, one_password_file_serves_all_members) {
  std::vector<std::unique_ptr<RedisServer>> servers;
  std::vector<std::uint16_t> ports;
  for (int i = 0; i < 3; ++i) {
    servers.push_back(
        std::make_unique<RedisServer>(std::vector<std::string>{"--requirepass", "sesame"}));
    ports.push_back(servers.back()->port());
  }
  const test::TemporaryFolder folder;
  const std::string file = folder.path() / "password";
  std::ofstream(file) << "sesame\n";
  const auto client = must_open(redlock_url(ports, "password_file=" + file));
  EXPECT_TRUE(is_released(take_and_release(client)));
}

TEST(Login, a_member_may_speak_tls) {
  const test::TemporaryFolder folder;
  const auto authority = test::make_authority(folder.path(), "authority");
  const auto identity = test::make_identity(folder.path(), authority, {"server", "IP:127.0.0.1"});
  std::vector<std::unique_ptr<RedisServer>> servers;
  std::string members;
  for (int i = 0; i < 3; ++i) {
    const auto port = test::free_port();
    servers.push_back(std::make_unique<RedisServer>(std::vector<std::string>{
        "--tls-port", std::to_string(port), "--tls-cert-file", identity.certificate_file,
        "--tls-key-file", identity.key_file, "--tls-ca-cert-file", authority.certificate_file,
        "--tls-auth-clients", "no"}));
    members += fmt::format("{}rediss://{}", i == 0 ? "" : ",", address_of(port));
  }
  const auto client = must_open(
      fmt::format("redlock://{}?timeout=10s&grace=0s&ca={}", members, authority.certificate_file));
  EXPECT_TRUE(is_released(take_and_release(client)));
  // Nobody vouches for them.
  EXPECT_EQ(code_of(open("redlock://" + members)), "quorum_not_reached");
}

// The certificates are for those members that have some.
TEST(Login, members_with_and_without_tls_vote_together) {
  const test::TemporaryFolder folder;
  const auto authority = test::make_authority(folder.path(), "authority");
  const auto identity = test::make_identity(folder.path(), authority, {"server", "IP:127.0.0.1"});
  const auto port = test::free_port();
  RedisServer with_tls({"--tls-port", std::to_string(port), "--tls-cert-file",
                        identity.certificate_file, "--tls-key-file", identity.key_file,
                        "--tls-ca-cert-file", authority.certificate_file, "--tls-auth-clients",
                        "no"});
  RedisServer second;
  RedisServer third;
  const auto client = must_open(
      fmt::format("redlock://rediss://{},{},{}?timeout=10s&grace=0s&ca={}", address_of(port),
                  address_of(second.port()), address_of(third.port()), authority.certificate_file));
  third.kill();
  EXPECT_TRUE(is_released(take_and_release(client)));
}

TEST(Login, a_member_may_be_a_socket_file) {
  RedisServer first;
  RedisServer second;
  RedisServer third;
  const auto client = must_open(
      fmt::format("redlock://redis://{},{},{}?retries=0&timeout=10s&grace=0s", first.unix_path(),
                  address_of(second.port()), address_of(third.port())));
  third.kill();
  EXPECT_TRUE(is_released(take_and_release(client)));
}

struct BadUrl {
  std::string url;
  std::string message;
  friend void PrintTo(const BadUrl& bad, std::ostream* out) { *out << bad.url; }
};

std::string members(int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += fmt::format("{}127.0.0.1:{}", i == 0 ? "" : ",", i + 1);
  return "redlock://" + all;
}

std::vector<BadUrl> bad_urls() {
  return {
      {"redlock://", "empty member"},
      {"redlock://a:1,,b:2", "empty member"},
      {"redlock://a:1,b:2,", "empty member"},
      {members(1), "needs 3 to 15 members; got 1"},
      {members(2), "needs 3 to 15 members; got 2"},
      {members(16), "needs 3 to 15 members; got 16"},
      {members(3) + "?drift=0", "option 'drift' must be a number from 0.01 to 0.5"},
      {members(3) + "?drift=nan", "option 'drift' must be a number from 0.01 to 0.5"},
      {members(3) + "?drift=-1", "option 'drift' must be a number from 0.01 to 0.5"},
      {members(3) + "?drift=inf", "option 'drift' must be a number from 0.01 to 0.5"},
      {members(3) + "?drift=0.1x", "option 'drift' must be a number from 0.01 to 0.5"},
      {members(3) + "?drift=", "has the option \"drift\" without a value"},
      {members(3) + "?timeout=1ms", "option 'timeout' must be a duration from 5ms to 10s"},
      {members(3) + "?timeout=11s", "option 'timeout' must be a duration from 5ms to 10s"},
      {members(3) + "?retry_delay=61s", "option 'retry_delay' must be a duration"},
      {members(3) + "?retry_jitter=soon", "option 'retry_jitter' must be a duration"},
      {members(3) + "?retries=-1", "option 'retries' must be a number from 0 to 1000"},
      {members(3) + "?retries=1001", "option 'retries' must be a number from 0 to 1000"},
      {members(3) + "?fence=maybe", "option 'fence' must be on or off"},
      {members(3) + "?grace=2d", "option 'grace' must be a duration"},
      {members(3) + "?same_server=yes", "option 'same_server' must be allow or refuse"},
      {members(3) + "?quorum=2", "has no option 'quorum'"},
      {members(3) + "?password_file=/no/such/file", "/no/such/file"},
      {"redlock://a:1,memory:,b:2", "memory"},
      {"redlock://a:1,/1,b:2", "a member has no host"},
      {"redlock://a:1,http://b:2,c:3", "members are redis: or rediss:, not 'http:'"},
      {"redlock://a:1,b:99999,c:3", "99999"},
      {"redlock://a:1,user@b:2,c:3", "a user needs a password"},
  };
}

class BadUrls : public testing::TestWithParam<BadUrl> {};

TEST_P(BadUrls, are_refused_with_the_rule) {
  const auto client = open(GetParam().url);
  EXPECT_EQ(code_of(client), "bad_input");
  EXPECT_THAT(message_of(client), HasSubstr(GetParam().message));
}
INSTANTIATE_TEST_SUITE_P(all, BadUrls, testing::ValuesIn(bad_urls()),
                         [](const auto& bad) { return std::to_string(bad.index); });

TEST(BadUrl, never_shows_a_password) {
  for (const auto* url : {"redlock://u:hush@a:1,,b:2", "redlock://u:hush@a:1,u:hush@b:2",
                          "redlock://u:hush@a:99999,b:2,c:3", "redlock://u:hush@a:1,b:2,c:3?x=1",
                          "redlock://u:hush@a:1,b:2,c:3?%zz"}) {
    const auto client = open(url);
    EXPECT_EQ(code_of(client), "bad_input") << url;
    EXPECT_THAT(message_of(client), Not(HasSubstr("hush"))) << url;
  }
}

}  // namespace
}  // namespace holdfast::faults
