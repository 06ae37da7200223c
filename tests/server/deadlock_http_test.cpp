// SPDX-License-Identifier: Apache-2.0
#include <holdfast/client.hpp>

#include "server_fixture.hpp"

#include <boost/json/array.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <future>
#include <set>

namespace holdfast::server {
namespace {

using namespace std::chrono_literals;

class DeadlockHttpTest : public ServerTest {
 protected:
  static std::string path(const std::string& name, const std::string& verb) {
    return "/v1/locks/" + name + "/" + verb;
  }
  void take(const std::string& name, const std::string& owner) {
    const auto body = fmt::format(R"({{"owner":"{}","ttl":"10m"}})", owner);
    EXPECT_EQ(post(path(name, "acquire"), body).status, 200);
  }
  // It stands in the queue when this returns.
  std::future<HttpAnswer> wait(const std::string& name, const std::string& owner) {
    const auto body = fmt::format(R"({{"owner":"{}","ttl":"10m","wait":"10m"}})", owner);
    auto answer = post_later(path(name, "acquire"), body);
    EXPECT_TRUE(has_waiters(name));
    return answer;
  }
  void release(const std::string& name, const std::string& owner) {
    EXPECT_EQ(post(path(name, "release"), R"({"owner":")" + owner + "\"}").status, 200);
  }
  // Who holds what, then who waits for what, in a circle.
  std::vector<std::future<HttpAnswer>> make_circle(std::size_t parties) {
    for (std::size_t at = 0; at < parties; ++at) {
      take(fmt::format("lock-{}", at), fmt::format("party-{}", at));
    }
    std::vector<std::future<HttpAnswer>> waits;
    for (std::size_t at = 0; at < parties; ++at) {
      waits.push_back(
          wait(fmt::format("lock-{}", (at + 1) % parties), fmt::format("party-{}", at)));
    }
    return waits;
  }
  // One after the other has its turn, once the last one gives up what it holds.
  void break_circle(std::vector<std::future<HttpAnswer>>& waits) {
    for (std::size_t at = waits.size() - 1; at > 0; --at) {
      release(fmt::format("lock-{}", at), fmt::format("party-{}", at));
      EXPECT_EQ(waits[at - 1].get().status, 200);
    }
  }
  boost::json::array reported() {
    boost::json::array found;
    test::eventually([&] {
      found = get("/v1/deadlocks").json().at("deadlocks").as_array();
      return !found.empty();
    });
    return found;
  }
};

TEST_F(DeadlockHttpTest, two_owners_that_wait_for_each_other_are_reported) {
  start();
  auto waits = make_circle(2);
  const auto found = reported();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].at("members").as_array().size(), 2U);
  EXPECT_NE(get("/metrics").body.find("holdfast_deadlocks 1"), std::string::npos);
  break_circle(waits);
  release("lock-0", "party-0");
  EXPECT_EQ(waits[1].get().status, 200);
}

TEST_F(DeadlockHttpTest, the_youngest_of_three_is_ended_if_the_operator_wants_that) {
  options.deadlock_victim = DeadlockVictim::youngest;
  start();
  auto waits = make_circle(3);
  const auto youngest = waits[2].get();
  EXPECT_EQ(youngest.status, 409) << youngest.body;
  EXPECT_EQ(youngest.code(), "deadlock");
  break_circle(waits);
}

[[noreturn]] void die(const Error& error) {
  fmt::print(stderr, "{}\n", error.message);
  _exit(1);
}

// Each is a process of its own, since the process is what the graph knows of a program: it takes
// one lock, says so, and waits for the other when it is told to.
pid_t start_program(const std::string& store, const std::string& first, const std::string& second,
                    int ready, int go) {
  const pid_t pid = fork();
  if (pid != 0) return pid;
  auto client = open(store);
  if (!client) die(client.error());
  auto held = client->mutex(first).acquire({.ttl = 10min});
  if (!held) die(held.error());
  char byte = 0;
  if (write(ready, "x", 1) != 1 || read(go, &byte, 1) != 1) _exit(3);
  const auto both = client->mutex(second).acquire({.ttl = 10min, .wait = 10min});
  held->release();
  _exit(both ? 0 : both.error().code == Errc::deadlock ? 84 : 4);
}

class ProgramsTest : public DeadlockHttpTest {
 protected:
  void SetUp() override {
    ASSERT_EQ(pipe(ready_), 0);
    ASSERT_EQ(pipe(go_), 0);
  }
  void TearDown() override {
    for (const pid_t pid : programs_) {
      kill(pid, SIGKILL);
      waitpid(pid, nullptr, 0);
    }
  }
  void start_programs(const std::string& store, std::size_t count) {
    for (std::size_t at = 0; at < count; ++at) {
      programs_.push_back(start_program(store, fmt::format("lock-{}", at),
                                        fmt::format("lock-{}", (at + 1) % count), ready_[1],
                                        go_[0]));
      char byte = 0;
      ASSERT_EQ(read(ready_[0], &byte, 1), 1);
    }
    const std::string all(count, 'x');
    ASSERT_EQ(write(go_[1], all.data(), all.size()), static_cast<ssize_t>(count));
  }
  int exit_code_of_next() {
    int status = 0;
    const pid_t pid = waitpid(-1, &status, 0);
    std::erase(programs_, pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  int ready_[2]{};
  int go_[2]{};
  std::vector<pid_t> programs_;
  test::TemporaryFolder folder_;
};

TEST_F(ProgramsTest, programs_on_the_same_store_that_wait_for_each_other_are_reported) {
  const auto store = "file:" + folder_.path().string();
  start_programs(store, 3);
  start(store);
  const auto found = reported();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].at("members").as_array().size(), 3U);
}

TEST_F(ProgramsTest, a_program_that_waits_through_the_server_can_be_the_victim) {
  options.deadlock_victim = DeadlockVictim::youngest;
  start();
  start_programs("http://" + address, 2);
  // The victim gives back what it held before it ends, so either may be the first to go.
  const std::set<int> codes{exit_code_of_next(), exit_code_of_next()};
  EXPECT_EQ(codes, (std::set<int>{0, 84}));
}

TEST_F(DeadlockHttpTest, a_chain_without_a_circle_is_none) {
  start();
  take("a", "p");
  take("b", "q");
  auto waits = wait("b", "p");
  // Whoever finds the circle, which is younger, has looked at the chain too.
  auto circle = make_circle(2);
  const auto found = reported();
  ASSERT_EQ(found.size(), 1U);
  for (const auto& each : found[0].at("members").as_array()) {
    EXPECT_TRUE(std::string_view(each.at("waits_for").as_string()).starts_with("lock-"));
  }
  release("b", "q");
  EXPECT_EQ(waits.get().status, 200);
  break_circle(circle);
  release("lock-0", "party-0");
  EXPECT_EQ(circle[1].get().status, 200);
}

}  // namespace
}  // namespace holdfast::server
