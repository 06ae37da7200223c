// SPDX-License-Identifier: Apache-2.0
//
// kill -9 at any moment, on a durable store: whoever was told that it holds a lock still holds it,
// and no fence is seen again. HOLDFAST_RESTARTS=n for n restarts instead of as many as fit into
// a quarter of a minute.
#include "server_fixture.hpp"

#include <csignal>
#include <cstdlib>
#include <mutex>
#include <random>
#include <set>
#include <thread>

namespace holdfast::server {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

struct Leases {
  std::mutex mutex;
  std::map<std::string, std::int64_t> fences;  // by name; guarded by mutex
  std::int64_t newest = 0;                     // guarded by mutex
};

class RestartTest : public ServerTest {
 protected:
  std::string store() const {
    return "file:" + (folder_.path() / "locks").string() + "?durable=yes";
  }

 private:
  test::TemporaryFolder folder_;
};

// Until the server is gone. Every name is new, so every fence must be, too.
void take_until_the_end(const std::string& address, const std::string& prefix, std::int64_t before,
                        Leases& leases) {
  HttpConnection connection(address);
  for (int i = 0;; ++i) {
    const auto name = fmt::format("{}-{}", prefix, i);
    connection.send(test::request_text(
        {.method = "POST", .path = "/v1/locks/" + name + "/acquire", .body = R"({"ttl":"10h"})"},
        address));
    const auto answer = connection.receive();
    if (answer.status != 200) return;
    const std::lock_guard lock(leases.mutex);
    leases.fences[name] = answer.number("fence");
    leases.newest = std::max(leases.newest, answer.number("fence"));
    EXPECT_GT(answer.number("fence"), before) << "a fence of an earlier life: " << name;
  }
}

void expect_held(const std::string& address, const std::map<std::string, std::int64_t>& fences) {
  HttpConnection connection(address);
  for (const auto& [name, fence] : fences) {
    connection.send(test::request_text({.path = "/v1/locks/" + name}, address));
    const auto answer = connection.receive();
    ASSERT_EQ(answer.status, 200) << name << " was granted and is not held: " << answer.body;
    ASSERT_NE(answer.body.find(fmt::format("\"fence\":{}", fence)), std::string::npos)
        << name << answer.body;
  }
}

TEST_F(RestartTest, a_killed_server_forgets_no_lease_and_repeats_no_fence) {
  const auto seed = std::random_device{}();
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  const char* const wanted = std::getenv("HOLDFAST_RESTARTS");
  const int rounds = wanted != nullptr ? std::atoi(wanted) : 100;
  const auto until = wanted != nullptr ? Clock::time_point::max() : Clock::now() + 15s;
  std::map<std::string, std::int64_t> all;
  std::map<std::string, std::int64_t> latest;
  std::int64_t newest = 0;
  int round = 0;
  for (; round < rounds && (round < 5 || Clock::now() < until) && !HasFatalFailure(); ++round) {
    ServedProgram served({"--store", store()});
    ASSERT_FALSE(served.address().empty()) << served.program().err();
    expect_held(served.address(), latest);
    Leases leases;
    {
      std::vector<std::jthread> clients;
      for (int i = 0; i < 3; ++i) {
        clients.emplace_back([&, i] {
          take_until_the_end(served.address(), fmt::format("r{}-{}", round, i), newest, leases);
        });
      }
      // At any moment of their work.
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 120'000));
      served.program().signal(SIGKILL);
      EXPECT_EQ(served.program().wait(), 1000 + SIGKILL);
    }
    std::set<std::int64_t> distinct;
    for (const auto& [name, fence] : leases.fences) distinct.insert(fence);
    EXPECT_EQ(distinct.size(), leases.fences.size());
    newest = std::max(newest, leases.newest);
    all.insert(leases.fences.begin(), leases.fences.end());
    latest = std::move(leases.fences);
  }
  ServedProgram served({"--store", store()});
  ASSERT_FALSE(served.address().empty()) << served.program().err();
  expect_held(served.address(), all);
  std::printf("%d restarts, %zu leases\n", round, all.size());
  EXPECT_FALSE(all.empty());
}

}  // namespace
}  // namespace holdfast::server
