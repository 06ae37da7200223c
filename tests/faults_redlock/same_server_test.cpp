// SPDX-License-Identifier: Apache-2.0
//
// A server that is named twice would vote twice.
#include "faults_redlock/redlock_fixture.hpp"
#include "support/fault_proxy.hpp"

#include <fmt/format.h>

namespace holdfast::faults {
namespace {

class SameServer : public RedlockTest {
 protected:
  SameServer() : RedlockTest(3) {}
  // Opens it until all members were quick enough to be told apart.
  static Result<Client> refused(const std::string& url) {
    auto client = open(url);
    eventually([&] {
      return code_of(client) == "bad_input" || code_of(client = open(url)) == "bad_input";
    });
    return client;
  }
  std::string databases(std::initializer_list<int> which) const {
    std::string members;
    for (const int each : which) {
      if (!members.empty()) members += ',';
      members += fmt::format("{}/{}", address(0), each);
    }
    return "redlock://" + members + "?timeout=10s&grace=0s";
  }
};

TEST_F(SameServer, by_two_names_is_refused_with_both) {
  const std::string alias = fmt::format("localhost:{}", server(1).port());
  const auto client = open(
      fmt::format("redlock://{},{},{},{}?timeout=10s", address(0), address(1), address(2), alias));
  ASSERT_EQ(code_of(client), "bad_input");
  EXPECT_THAT(message_of(client), HasSubstr(address(1)));
  EXPECT_THAT(message_of(client), HasSubstr(alias));
  EXPECT_THAT(message_of(client), HasSubstr("same_server=allow"));
}

TEST_F(SameServer, behind_another_port_is_refused) {
  const test::FaultProxy proxy(server(0).port());
  const auto client = refused(redlock_url({server(0).port(), server(1).port(), proxy.port()}));
  ASSERT_EQ(code_of(client), "bad_input");
  EXPECT_THAT(message_of(client), HasSubstr(address(0) + " and " + address_of(proxy.port())));
}

TEST_F(SameServer, with_several_databases_is_refused_unless_it_is_allowed) {
  const auto url = databases({0, 1, 2, 3, 4});
  EXPECT_EQ(code_of(refused(url)), "bad_input");
  const auto client = must_open(url + "&same_server=allow");
  auto lease = client.mutex("orders").acquire({.wait = 20s});
  ASSERT_TRUE(is_ok(lease));
  for (int at = 0; at < 5; ++at) {
    const auto member = must_open(fmt::format("{}/{}?timeout=20s", server(0).url(), at));
    EXPECT_TRUE(eventually([&] {
      const auto seen = member.inspect("orders");
      return seen && seen->holders.size() == 1 && seen->holders[0].fence == lease->fence();
    })) << at;
  }
  EXPECT_TRUE(is_released(lease->release()));
}

TEST_F(SameServer, with_one_database_twice_is_refused_even_then) {
  const auto client = refused(databases({0, 1, 2, 1}) + "&same_server=allow");
  ASSERT_EQ(code_of(client), "bad_input");
  EXPECT_THAT(message_of(client), HasSubstr(address(0) + "/1 and " + address(0) + "/1"));
}

// It was away when the client came, so that nobody could tell.
TEST_F(SameServer, that_shows_itself_later_votes_once) {
  test::FaultProxy proxy(server(0).port());
  proxy.refuse(true);
  const auto client =
      must_open(redlock_url({server(0).port(), server(1).port(), proxy.port()}, "retries=0"));
  proxy.all_well();
  EXPECT_TRUE(eventually([&] { return proxy.counts().reply_bytes > 0; }));
  kill({1});
  // Two addresses answer, and one server.
  EXPECT_TRUE(eventually([&] {
    const auto lease = client.mutex("orders").try_acquire();
    return message_of(lease).contains("is the same server as " + address(0));
  }));
  EXPECT_EQ(code_of(client.mutex("orders").acquire({.wait = 500ms})), "quorum_not_reached");
}

}  // namespace
}  // namespace holdfast::faults
