// SPDX-License-Identifier: Apache-2.0
//
// server.rate_limits: the server's own endpoints, limited in the store.
#include "backends/memory/memory_store.hpp"
#include "client/core.hpp"
#include "runtime/runtime.hpp"
#include "server/endpoints/patterns/voters.hpp"
#include "server_fixture.hpp"
#include "support/fault_store.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

namespace holdfast::server {
namespace {

using namespace std::chrono_literals;
using test::Fault;
using test::FaultStore;
using testing::HasSubstr;
using testing::StartsWith;
using Per = EndpointLimit::Per;
using WithoutStore = EndpointLimit::WithoutStore;

class EndpointLimitsTest : public ServerTest {
 protected:
  void limit(std::string path, std::uint32_t requests, Per per = Per::all,
             WithoutStore without_store = WithoutStore::refuse) {
    const RateRule rule{.limit = requests, .window = 1h};
    options.rate_limits.push_back({std::move(path), rule, per, without_store});
  }
  // A store that answers late, or as a script says.
  std::shared_ptr<FaultStore> start_slowly(Fault fault) {
    auto runtime = runtime::shared_runtime();
    auto line = FaultStore::over(
        runtime, [runtime] { return backends::memory::make_memory_store(runtime); });
    options.listen = {"127.0.0.1:0"};
    auto started = Server::start(options, client::make_core(line, runtime));
    EXPECT_TRUE(started) << started.error().message;
    server = std::move(*started);
    address = server->addresses().front();
    line->decide_by(
        [fault](test::Verb verb) { return verb == test::Verb::count_hit ? fault : Fault::none(); });
    return line;
  }
  HttpAnswer acquire(const std::string& name) {
    return post("/v1/locks/" + name + "/acquire", R"({"ttl":"10s"})");
  }
};

TEST_F(EndpointLimitsTest, a_request_too_many_is_429_and_does_nothing) {
  limit("/v1/locks/{name}/acquire", 2);
  start();
  const auto first = acquire("a");
  EXPECT_EQ(first.status, 200);
  EXPECT_EQ(first.header("ratelimit-limit"), "2");
  EXPECT_EQ(first.header("ratelimit-remaining"), "1");
  EXPECT_EQ(first.header("ratelimit-reset"), "3600");
  EXPECT_EQ(acquire("b").status, 200);
  const auto denied = acquire("c");
  EXPECT_EQ(denied.status, 429);
  EXPECT_EQ(denied.code(), "rate_limited");
  EXPECT_THAT(denied.text("detail"),
              StartsWith("rate_limits: /v1/locks/{name}/acquire allows 2/h; the next request is "
                         "allowed in "));
  EXPECT_EQ(denied.header("ratelimit-remaining"), "0");
  EXPECT_GT(std::stol(denied.header("retry-after")), 3000);
  EXPECT_EQ(get("/v1/locks/c").status, 404) << "the endpoint was not called";
  EXPECT_EQ(get("/v1/locks/a").header("ratelimit-limit"), "") << "only the path that is limited";
  EXPECT_THAT(get("/metrics").body, HasSubstr("holdfast_http_rate_limited_total 1\n"));
}

TEST_F(EndpointLimitsTest, a_star_is_everything_below_but_what_tells_how_the_server_is) {
  limit("/*", 1);
  start();
  EXPECT_EQ(get("/v1/locks").status, 200);
  EXPECT_EQ(get("/v1/stats").status, 429) << "one limit, not one for each path";
  for (int each = 0; each < 3; ++each) {
    EXPECT_EQ(get("/health").status, 200);
    EXPECT_EQ(get("/metrics").status, 200);
  }
  EXPECT_EQ(get("/nowhere").status, 404);
}

TEST_F(EndpointLimitsTest, another_spelling_of_a_path_is_the_same_path) {
  limit("/v1/locks/*", 1);
  start();
  EXPECT_EQ(get("/v1/locks/%61").status, 404);
  EXPECT_EQ(get("/v1/locks/a").status, 429);
}

TEST_F(EndpointLimitsTest, a_request_passes_all_that_match_and_is_told_of_the_tightest) {
  limit("/v1/*", 5);
  limit("/v1/stats", 2);
  start();
  EXPECT_EQ(get("/v1/stats").header("ratelimit-remaining"), "1");
  EXPECT_EQ(get("/v1/stats").header("ratelimit-remaining"), "0");
  EXPECT_EQ(get("/v1/stats").status, 429);
  EXPECT_EQ(get("/v1/locks").header("ratelimit-remaining"), "1");
}

TEST_F(EndpointLimitsTest, servers_of_one_store_count_together) {
  limit("/v1/stats", 3);
  start("memory:endpoint-limits-together");
  const auto first = std::move(server);
  const auto first_address = address;
  start("memory:endpoint-limits-together");
  EXPECT_EQ(get("/v1/stats").status, 200);
  EXPECT_EQ(call_at(first_address, {.path = "/v1/stats"}).status, 200);
  EXPECT_EQ(get("/v1/stats").status, 200);
  EXPECT_EQ(call_at(first_address, {.path = "/v1/stats"}).status, 429);
}

TEST_F(EndpointLimitsTest, per_token_nobody_pays_for_another) {
  test::TemporaryFolder folder;
  const auto file = (folder.path() / "tokens").string();
  // printf %s NAME-token | sha256sum
  std::ofstream(file)
      << "reader ba5005a40cf5212e4ac0190104cc127edab013294bb71279a975b27a80982d45 read *\n"
      << "locker fea47895995ea3f73d254cd6345c8b2d4332c600bad861188a21597eb553521a lock *\n";
  std::filesystem::permissions(file, std::filesystem::perms::owner_read);
  options.token_file = file;
  limit("/v1/stats", 1, Per::token);
  start();
  const auto ask = [&](const std::string& who) {
    return call({.path = "/v1/stats", .headers = {{"Authorization", "Bearer " + who}}});
  };
  EXPECT_EQ(ask("reader-token").status, 200);
  const auto denied = ask("reader-token");
  EXPECT_EQ(denied.status, 429);
  EXPECT_THAT(denied.text("detail"), HasSubstr("/v1/stats allows 1/h per token;"));
  EXPECT_EQ(ask("locker-token").status, 200);
  EXPECT_EQ(ask("nobody").status, 401) << "who is not let in is not counted";
}

TEST_F(EndpointLimitsTest, per_address_is_by_where_a_request_comes_from) {
  test::TemporaryFolder folder;
  limit("/v1/stats", 1, Per::address);
  start("memory:endpoint-limits-address");
  const auto by_network = std::move(server);
  const auto network_address = address;
  options.listen = {"unix:" + (folder.path() / "s").string()};
  auto started = Server::start(options, *open_core("memory:endpoint-limits-address"));
  ASSERT_TRUE(started) << started.error().message;
  server = std::move(*started);
  address = server->addresses().front();
  EXPECT_EQ(get("/v1/stats").status, 200);
  EXPECT_EQ(get("/v1/stats").status, 429);
  EXPECT_EQ(call_at(network_address, {.path = "/v1/stats"}).status, 200);
}

TEST_F(EndpointLimitsTest, a_store_that_answers_late_changes_nothing_for_the_endpoint) {
  limit("/v1/locks/*", 3);
  limit("/v1/*", 100);
  start_slowly(Fault::delay_reply(5ms));
  const auto taken = call({.method = "POST",
                           .path = "/v1/locks/a%20b/acquire",
                           .body = R"({"ttl":"10s","metadata":{"note":"kept"}})",
                           .headers = {{"Idempotency-Key", "first"}}});
  EXPECT_EQ(taken.status, 200) << taken.body;
  EXPECT_EQ(taken.text("name"), "a b");
  EXPECT_EQ(taken.header("ratelimit-remaining"), "2");
  const auto again = call({.method = "POST",
                           .path = "/v1/locks/a%20b/acquire",
                           .body = R"({"ttl":"10s","metadata":{"note":"kept"}})",
                           .headers = {{"Idempotency-Key", "first"}}});
  EXPECT_EQ(again.number("fence"), taken.number("fence")) << "the header came through too";
  EXPECT_EQ(get("/v1/locks?limit=none").status, 400) << "and so does the query";
  EXPECT_EQ(get("/v1/locks/a%20b").status, 200);
  EXPECT_EQ(get("/v1/locks/a%20b").status, 429);
}

// The connection's own buffer is used again for the next request while the first one waits.
TEST_F(EndpointLimitsTest, requests_in_a_row_on_one_connection_keep_their_own_bodies) {
  limit("/v1/locks/*", 100);
  start_slowly(Fault::delay_reply(5ms));
  HttpConnection connection(address);
  std::string all;
  for (const auto* name : {"one", "two", "three"}) {
    all += test::request_text({.method = "POST",
                               .path = fmt::format("/v1/locks/{}/acquire", name),
                               .body = fmt::format(R"({{"owner":"{}"}})", name)},
                              address);
  }
  ASSERT_TRUE(connection.send(all));
  for (const auto* name : {"one", "two", "three"}) {
    const auto answer = connection.receive();
    EXPECT_EQ(answer.status, 200) << answer.body;
    EXPECT_EQ(answer.text("name"), name);
    EXPECT_EQ(answer.text("owner"), name);
  }
}

TEST_F(EndpointLimitsTest, a_client_that_leaves_while_it_waits_leaves_the_queue) {
  limit("/v1/locks/*", 100);
  start_slowly(Fault::delay_reply(5ms));
  ASSERT_EQ(acquire("a").status, 200);
  {
    HttpConnection connection(address);
    connection.send(test::request_text(
        {.method = "POST", .path = "/v1/locks/a/acquire", .body = R"({"wait":"1h"})"}, address));
    EXPECT_TRUE(test::eventually([&] { return get("/v1/stats").number("waiters") == 1; }));
  }
  EXPECT_TRUE(test::eventually([&] { return get("/v1/stats").number("waiters") == 0; }));
}

TEST_F(EndpointLimitsTest, what_cannot_be_counted_is_refused) {
  limit("/v1/locks/*", 5);
  const auto line = start_slowly(Fault::refuse());
  const auto refused = acquire("a");
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.code(), "unavailable");
  EXPECT_EQ(refused.header("retry-after"), "1");
  EXPECT_THAT(refused.text("detail"),
              StartsWith("rate_limits: /v1/locks/* allows 5/h, and the store cannot count: "));
  EXPECT_EQ(line->count(test::Verb::acquire), 0U) << "the endpoint was not called";
}

TEST_F(EndpointLimitsTest, unless_the_entry_says_that_it_may_pass) {
  limit("/v1/locks/*", 5, Per::all, WithoutStore::allow);
  start_slowly(Fault::refuse());
  const auto passed = acquire("a");
  EXPECT_EQ(passed.status, 200);
  EXPECT_EQ(passed.header("ratelimit-limit"), "") << "nothing is known";
}

TEST_F(EndpointLimitsTest, a_store_that_can_never_count_is_refused_when_the_server_starts) {
  limit("/v1/locks/*", 5);
  options.listen = {"127.0.0.1:0"};
  auto voters = patterns::open_voters("");
  ASSERT_TRUE(voters) << voters.error().message;
  const auto started = Server::start(options, voters->core);
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, Errc::unsupported);
  EXPECT_THAT(started.error().message, StartsWith("rate_limits: "));
}

TEST_F(EndpointLimitsTest, its_own_answer_about_a_limit_is_not_overwritten) {
  limit("/v1/rate-limits/*", 100);
  start();
  const auto answer = post("/v1/rate-limits/api/check", R"({"rate":"7/h"})");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.header("ratelimit-limit"), "7");
}

}  // namespace
}  // namespace holdfast::server
