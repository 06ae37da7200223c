// SPDX-License-Identifier: Apache-2.0
#include "server_fixture.hpp"

#include <holdfast/client.hpp>

#include <boost/json/array.hpp>

#include <future>

namespace holdfast::server {
namespace {

using namespace std::chrono_literals;

class DeadlockHttpTest : public ServerTest {
 protected:
  std::future<HttpAnswer> acquire(const std::string& name, const std::string& owner,
                                  const std::string& wait) {
    const auto body = R"({"owner":")" + owner + R"(","wait":")" + wait + "\"}";
    return std::async(std::launch::async, [where = address, name, body] {
      return call_at(where, {.method = "POST", .path = "/v1/locks/" + name + "/acquire", .body = body});
    });
  }
  // Who holds what, then who waits for what, in a circle.
  std::vector<std::future<HttpAnswer>> make_circle(std::size_t parties) {
    for (std::size_t at = 0; at < parties; ++at) {
      EXPECT_EQ(acquire(fmt::format("lock-{}", at), fmt::format("party-{}", at), "0s").get().status,
                200);
    }
    std::vector<std::future<HttpAnswer>> waits;
    for (std::size_t at = 0; at < parties; ++at) {
      waits.push_back(acquire(fmt::format("lock-{}", (at + 1) % parties),
                              fmt::format("party-{}", at), "6s"));
      std::this_thread::sleep_for(50ms);
    }
    return waits;
  }
  boost::json::array reported() {
    for (int tries = 0; tries < 100; ++tries) {
      const auto found = get("/v1/deadlocks").json().at("deadlocks").as_array();
      if (!found.empty()) return found;
      std::this_thread::sleep_for(50ms);
    }
    return {};
  }
};

TEST_F(DeadlockHttpTest, two_owners_that_wait_for_each_other_are_reported) {
  start();
  auto waits = make_circle(2);
  const auto found = reported();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].at("members").as_array().size(), 2U);
  EXPECT_NE(get("/metrics").body.find("holdfast_deadlocks 1"), std::string::npos);
  post("/v1/locks/lock-0/release", R"({"owner":"party-0"})");
  EXPECT_EQ(waits[1].get().status, 200);
}

TEST_F(DeadlockHttpTest, the_youngest_of_three_is_ended_if_the_operator_wants_that) {
  options.deadlock_victim = DeadlockVictim::youngest;
  start();
  auto waits = make_circle(3);
  const auto youngest = waits[2].get();
  EXPECT_EQ(youngest.status, 409) << youngest.body;
  EXPECT_EQ(youngest.code(), "deadlock");
  post("/v1/locks/lock-2/release", R"({"owner":"party-2"})");
  EXPECT_EQ(waits[1].get().status, 200);
}

TEST_F(DeadlockHttpTest, a_chain_without_a_circle_is_none) {
  start();
  ASSERT_EQ(acquire("a", "p", "0s").get().status, 200);
  ASSERT_EQ(acquire("b", "q", "0s").get().status, 200);
  auto waits = acquire("b", "p", "2s");
  std::this_thread::sleep_for(1500ms);
  EXPECT_TRUE(get("/v1/deadlocks").json().at("deadlocks").as_array().empty());
  EXPECT_EQ(waits.get().status, 408);
}

}  // namespace
}  // namespace holdfast::server
