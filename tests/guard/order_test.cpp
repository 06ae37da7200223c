// SPDX-License-Identifier: Apache-2.0
//
// The upstream gets the requests of a resource in the order of their fences, however slow it is.
#include "guard_fixture.hpp"

#include <semaphore>

namespace holdfast::guard {
namespace {

// Requests to /…/slow are answered when the test says so.
class Order : public GuardTest {
 protected:
  void answer(const Seen& seen, Upstream::Talk& talk) {
    if (seen.line.contains("slow")) {
      ++slow_ones;
      go_on.acquire();
    }
    Upstream::answer_ok(seen, talk);
  }
  void start_slow(std::string store = {}) {
    options.resource = parse_resource_rule("path-prefix:1").value();
    start([this](const Seen& seen, Upstream::Talk& talk) { answer(seen, talk); }, std::move(store));
  }
  std::vector<std::string> fences() const {
    std::vector<std::string> all;
    for (const auto& each : upstream->seen()) all.push_back(each.header("Holdfast-Fence"));
    return all;
  }
  using Fences = std::vector<std::string>;
  // True once the guard knows this fence of /a. An older one is refused and changes nothing.
  bool has_seen(Fence fence) const {
    return eventually([&] { return post("/a", "1").number("newest") == std::int64_t(fence); });
  }
  // Another resource waits for nobody: what was to go before it has gone.
  void pass_another() const { EXPECT_EQ(post("/b", "1").status, 200); }

  std::atomic<int> slow_ones = 0;
  std::counting_semaphore<> go_on{0};
};

TEST_F(Order, a_newer_fence_waits_until_the_older_request_was_answered) {
  start_slow();
  auto old = post_later("/a/slow", "7");
  ASSERT_TRUE(eventually([&] { return slow_ones == 1; }));
  auto newer = post_later("/a", "8");
  ASSERT_TRUE(has_seen(8));
  pass_another();
  EXPECT_EQ(newer.wait_for(0s), std::future_status::timeout);
  EXPECT_EQ(fences(), (Fences{"7", "1"}));
  EXPECT_EQ(post("/a", "7").status, 412) << "the newer one has been seen";
  go_on.release();
  EXPECT_EQ(old.get().status, 200);
  EXPECT_EQ(newer.get().status, 200);
  EXPECT_EQ(fences(), (Fences{"7", "1", "8"}));
}

TEST_F(Order, the_same_fence_does_not_wait_for_itself) {
  start_slow();
  auto first = post_later("/a/slow", "7");
  ASSERT_TRUE(eventually([&] { return slow_ones == 1; }));
  EXPECT_EQ(post("/a", "7").status, 200);
  go_on.release();
  EXPECT_EQ(first.get().status, 200);
}

TEST_F(Order, three_holders_in_a_row_keep_their_order) {
  start_slow();
  auto first = post_later("/a/slow", "7");
  ASSERT_TRUE(eventually([&] { return slow_ones == 1; }));
  auto second = post_later("/a/slow", "8");
  ASSERT_TRUE(has_seen(8));
  auto third = post_later("/a", "9");
  ASSERT_TRUE(has_seen(9));
  go_on.release();
  EXPECT_EQ(first.get().status, 200);
  ASSERT_TRUE(eventually([&] { return slow_ones == 2; }));
  pass_another();
  EXPECT_EQ(third.wait_for(0s), std::future_status::timeout);
  go_on.release();
  EXPECT_EQ(second.get().status, 200);
  EXPECT_EQ(third.get().status, 200);
  EXPECT_EQ(fences(), (Fences{"7", "8", "1", "9"}));
}

TEST_F(Order, after_the_time_out_the_older_connection_is_closed_and_the_newer_request_goes) {
  options.upstream_timeout = test::stretched(400ms);
  options.resource = parse_resource_rule("path-prefix:1").value();
  std::atomic<bool> was_closed = false;
  std::atomic<bool> newer_came = false;
  start([&](const Seen& seen, Upstream::Talk& talk) {
    if (!seen.line.contains("slow")) {
      newer_came = true;
      return Upstream::answer_ok(seen, talk);
    }
    ++slow_ones;
    EXPECT_FALSE(newer_came.load());
    was_closed = talk.is_left(1min);
    talk.close();
  });
  auto old = post_later("/a/slow", "7");
  ASSERT_TRUE(eventually([&] { return slow_ones == 1; }));
  EXPECT_EQ(post("/a", "8").status, 200);
  EXPECT_EQ(old.get().status, 504);
  EXPECT_TRUE(eventually([&] { return was_closed.load(); }));
}

TEST_F(Order, a_client_that_left_still_keeps_others_waiting_since_its_request_is_under_way) {
  start_slow();
  {
    HttpConnection leaves(address);
    leaves.send(test::request_text(
        {.method = "POST", .path = "/a/slow", .headers = {{"Holdfast-Fence", "7"}}}, address));
    ASSERT_TRUE(eventually([&] { return slow_ones == 1; }));
    leaves.reset();
  }
  auto newer = post_later("/a", "8");
  ASSERT_TRUE(has_seen(8));
  pass_another();
  EXPECT_EQ(newer.wait_for(0s), std::future_status::timeout);
  go_on.release();
  EXPECT_EQ(newer.get().status, 200);
  EXPECT_EQ(fences(), (Fences{"7", "1", "8"})) << "and it was sent once";
}

TEST_F(Order, a_request_without_a_fence_waits_for_nobody) {
  start_slow();
  auto old = post_later("/a/slow", "7");
  ASSERT_TRUE(eventually([&] { return slow_ones == 1; }));
  EXPECT_EQ(call({.path = "/a"}).status, 200);
  go_on.release();
  EXPECT_EQ(old.get().status, 200);
}

// Whatever the threads do, a resource that is written with a fence never sees an older one after.
TEST_F(Order, many_clients_at_once_on_several_threads) {
  options.threads = 4;
  std::mutex mutex;
  std::map<std::string, Fence> newest;
  std::atomic<int> went_back = 0;
  start([&](const Seen& seen, Upstream::Talk& talk) {
    {
      const std::lock_guard lock(mutex);
      auto& last = newest[seen.line];
      const auto fence = std::stoull(seen.header("Holdfast-Fence"));
      if (fence < last) ++went_back;
      last = std::max<Fence>(last, fence);
    }
    Upstream::answer_ok(seen, talk);
  });
  constexpr int clients = 8;
  constexpr int rounds = 150;
  std::atomic<int> passed = 0;
  std::atomic<int> refused = 0;
  {
    std::vector<std::jthread> running;
    for (int client = 0; client < clients; ++client) {
      running.emplace_back([&, client] {
        HttpConnection connection(address);
        for (int round = 0; round < rounds; ++round) {
          const auto fence = 1 + round / 2 + (client * 5 + round * 3) % 7;
          connection.send(
              test::request_text({.method = "POST",
                                  .path = fmt::format("/{}", round % 3),
                                  .headers = {{"Holdfast-Fence", std::to_string(fence)}}},
                                 address));
          const auto status = connection.receive().status;
          if (status == 200) ++passed;
          if (status == 412) ++refused;
        }
      });
    }
  }
  EXPECT_EQ(passed + refused, clients * rounds);
  EXPECT_GT(passed.load(), 0);
  EXPECT_EQ(went_back.load(), 0);
}

}  // namespace
}  // namespace holdfast::guard
