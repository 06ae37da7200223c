// SPDX-License-Identifier: Apache-2.0
#include <holdfast/client.hpp>

#include "server_fixture.hpp"

#include <boost/json/array.hpp>

namespace holdfast::server {
namespace {

using namespace std::chrono_literals;

int count_of(std::string_view text, std::string_view what) {
  int count = 0;
  for (auto at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++count;
  return count;
}

class EventsTest : public ServerTest {
 protected:
  static constexpr auto store = "memory:events-test";
  void SetUp() override { start(store); }

  // Subscribes and waits until the server says hello.
  std::unique_ptr<HttpConnection> subscribe(const std::string& query = {},
                                            const std::string& last_id = {}) {
    auto connection = std::make_unique<HttpConnection>(address);
    HttpCall call{.method = "GET", .path = "/v1/events" + query};
    if (!last_id.empty()) call.headers["Last-Event-ID"] = last_id;
    connection->send(test::request_text(call, address));
    const auto seen = connection->receive_until("events of");
    EXPECT_NE(seen.find("text/event-stream"), std::string::npos) << seen;
    early_ = seen;
    return connection;
  }
  std::string until(HttpConnection& connection, const std::string& text) {
    std::string seen = std::move(early_);
    if (!seen.contains(text)) seen += connection.receive_until(text);
    return seen;
  }
  // From then on it is told what others do on the store.
  bool has_looked_at_store() {
    return test::eventually([&] { return get("/v1/stats").number("held_locks") >= 0; });
  }
  std::string early_;
};

TEST_F(EventsTest, tells_what_goes_through_the_server_once_and_with_who_asked) {
  auto events = subscribe("?prefix=a");
  const auto lease = post("/v1/locks/a1/acquire");
  post("/v1/locks/other-lock/acquire");
  post("/v1/locks/a1/release", R"({"owner":")" + lease.text("owner") + "\"}");
  auto seen = until(*events, "event: released");
  EXPECT_NE(seen.find("event: acquired"), std::string::npos) << seen;
  EXPECT_EQ(seen.find("other-lock"), std::string::npos);
  EXPECT_NE(seen.find(R"("principal":"anonymous")"), std::string::npos);
  EXPECT_EQ(seen.find(lease.text("owner")), std::string::npos);
  // Looking at the store finds what another process does, and tells nothing of a1 once more.
  ASSERT_TRUE(has_looked_at_store());
  const auto elsewhere = open(store)->mutex("a2").acquire();
  ASSERT_TRUE(elsewhere);
  seen += until(*events, R"("name":"a2")");
  EXPECT_EQ(count_of(seen, R"("name":"a1")"), 2) << seen;
}

TEST_F(EventsTest, tells_what_another_process_does_on_the_store) {
  auto events = subscribe();
  ASSERT_TRUE(has_looked_at_store());
  auto client = open(store);
  ASSERT_TRUE(client);
  auto lease = client->mutex("elsewhere").acquire();
  ASSERT_TRUE(lease);
  const auto acquired = until(*events, "event: acquired");
  EXPECT_NE(acquired.find(R"("source":"observed")"), std::string::npos) << acquired;
  ASSERT_TRUE(lease->release());
  EXPECT_NE(until(*events, "event: released").find("elsewhere"), std::string::npos);
}

TEST_F(EventsTest, whoever_comes_back_misses_nothing) {
  auto events = subscribe();
  post("/v1/locks/one/acquire");
  const auto seen = until(*events, "event: acquired");
  const auto id_at = seen.find("id: ") + 4;
  const auto id = seen.substr(id_at, seen.find('\n', id_at) - id_at);
  events.reset();
  post("/v1/locks/two/acquire");
  auto again = subscribe("", id);
  const auto replayed = until(*again, "\"two\"");
  EXPECT_NE(replayed.find("\"two\""), std::string::npos) << replayed;
  EXPECT_EQ(replayed.find("\"one\""), std::string::npos) << replayed;
  auto lost = subscribe("?after=17");
  EXPECT_NE(until(*lost, "event: missed").find("event: missed"), std::string::npos);
}

TEST_F(EventsTest, the_audit_trail_says_who_did_what_and_never_an_owner) {
  const auto lease = post("/v1/locks/a/acquire");
  call({.method = "DELETE", .path = "/v1/locks/a", .body = R"({"reason":"stuck since noon"})"});
  const auto page = get("/v1/audit?limit=10");
  ASSERT_EQ(page.status, 200) << page.body;
  const auto json = page.json();
  const auto& entries = json.at("entries").as_array();
  ASSERT_GE(entries.size(), 2U);
  EXPECT_EQ(entries[0].at("what").as_string(), "forced");
  EXPECT_EQ(entries[0].at("reason").as_string(), "stuck since noon");
  EXPECT_EQ(entries[1].at("what").as_string(), "acquired");
  EXPECT_EQ(page.body.find(lease.text("owner")), std::string::npos);
  EXPECT_EQ(get("/v1/audit?limit=0").status, 400);
  EXPECT_EQ(get("/v1/audit?cursor=x").status, 400);
}

TEST_F(EventsTest, several_names_are_taken_together_or_not_at_all) {
  const auto all = post("/v1/locks:acquire-all", R"({"names":["n2","n1"],"ttl":"20s"})");
  ASSERT_EQ(all.status, 200) << all.body;
  const auto json = all.json();
  EXPECT_EQ(json.at("leases").as_array().size(), 2U);
  EXPECT_EQ(json.at("leases").as_array()[0].at("name").as_string(), "n1");
  const auto none = post("/v1/locks:acquire-all", R"({"names":["n0","n2"]})");
  EXPECT_EQ(none.status, 409) << none.body;
  EXPECT_EQ(post("/v1/locks/n0/acquire", R"({"wait":"1m"})").status, 200);
  EXPECT_EQ(post("/v1/locks:acquire-all", R"({"names":["a","a"]})").status, 400);
  EXPECT_EQ(post("/v1/locks:acquire-all", R"({"names":[]})").status, 400);
  EXPECT_EQ(post("/v1/locks:acquire-all", R"({"names":["a"],"kind":"semaphore"})").status, 400);
}

TEST_F(EventsTest, a_resource_refuses_a_fence_that_is_too_old) {
  EXPECT_EQ(post("/v1/fences/disk/check", R"({"fence":10})").status, 200);
  EXPECT_EQ(post("/v1/fences/disk/check", R"({"fence":10})").status, 200);
  const auto late = post("/v1/fences/disk/check", R"({"fence":9})");
  EXPECT_EQ(late.status, 412);
  EXPECT_EQ(late.code(), "stale_fence");
  EXPECT_EQ(late.number("newest"), 10);
  EXPECT_EQ(post("/v1/fences/disk/check", R"({"fence":0})").status, 400);
  EXPECT_EQ(post("/v1/fences/disk/check", R"({})").status, 400);
}

}  // namespace
}  // namespace holdfast::server
