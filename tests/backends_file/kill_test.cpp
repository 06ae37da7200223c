// SPDX-License-Identifier: Apache-2.0
//
// kill -9 at any point: the store works for the next one at once, no lock has two holders, and no
// fence is given twice.
#include "backends_file/child_process.hpp"
#include "backends_file/file_fixture.hpp"

#include <fcntl.h>

#include <cstring>
#include <map>
#include <random>
#include <set>
#include <thread>
#include <vector>

namespace holdfast::test {

namespace {

// What a worker writes down while it holds a lock. Appended in one call, so that the order of the
// lines is the order of the holds.
struct Line {
  std::uint64_t name;
  std::uint64_t worker;
  Fence fence;
};

struct Trial {
  const char* what;
  int kills;
  std::chrono::microseconds longest_pause;  // between two of them
  bool durable;
  bool mapped;
  bool in_containers = false;  // each worker is the first process of a pid namespace
};

class Killing : public FileStoreTest, public ::testing::WithParamInterface<Trial> {
 protected:
  static constexpr std::uint64_t name_count = 512;

  EnvironmentOptions options() const {
    return {.durable = GetParam().durable, .mapped_writes = GetParam().mapped};
  }

  // Takes and releases locks until it is killed. The leases are long: a lock whose holder was
  // killed stays held for the rest of the test, so no clock decides what we see.
  int work(std::uint64_t worker, std::uint64_t seed) {
    const int log = ::open(log_.c_str(), O_WRONLY | O_APPEND);
    auto door = open(options());
    if (!door || log < 0) return 1;
    const std::string owner = "worker-" + std::to_string(worker);
    std::mt19937_64 random(seed);
    for (std::uint64_t i = 1;; ++i) {
      const std::uint64_t number = random() % name_count;
      const std::string name = "kill:" + std::to_string(number);
      const Ask ask{.name = name, .owner = owner, .request = i, .ttl = 1h};
      const auto outcome = door->acquire(ask);
      if (!outcome) return 2;
      const auto* granted = std::get_if<model::Granted>(&*outcome);
      if (granted == nullptr) continue;
      const Line line{number, worker, granted->fence};
      if (write(log, &line, sizeof line) != sizeof line) return 3;
      const auto released = door->release(ask);
      if (!released || !std::holds_alternative<model::Released>(*released)) return 4;
    }
  }

  ChildProcess start_worker() {
    const std::uint64_t worker = ++workers_;
    const auto start = [this, worker, seed = random_()] { return work(worker, seed); };
    return GetParam().in_containers ? ChildProcess(Apart{}, start) : ChildProcess(start);
  }

  std::vector<Line> lines() const {
    const std::string bytes = content_of(log_);
    EXPECT_EQ(bytes.size() % sizeof(Line), 0U);
    std::vector<Line> all(bytes.size() / sizeof(Line));
    std::memcpy(all.data(), bytes.data(), all.size() * sizeof(Line));
    return all;
  }

  void expect_sound_history() {
    std::set<Fence> fences;
    std::map<std::uint64_t, Fence> last_of_name;
    std::map<std::uint64_t, Fence> last_of_worker;
    for (const Line& line : lines()) {
      EXPECT_TRUE(fences.insert(line.fence).second) << "fence given twice: " << line.fence;
      EXPECT_GT(line.fence, std::exchange(last_of_name[line.name], line.fence));
      EXPECT_GT(line.fence, std::exchange(last_of_worker[line.worker], line.fence));
    }
    ASSERT_FALSE(fences.empty());
    Door door = must_open(options());
    EXPECT_GT(fence_of(door.acquire({.name = "after"})), *fences.rbegin());
    const auto page = door.list({.limit = 1000});
    ASSERT_TRUE(page);
    EXPECT_LE(page->locks.size(), static_cast<std::size_t>(GetParam().kills) + 5);
  }

  TemporaryFolder beside_;
  std::string log_ = beside_.file("log");
  std::mt19937_64 random_{std::random_device{}()};
  std::uint64_t workers_ = 0;
};

TEST_P(Killing, leaves_a_store_that_works_at_once_and_reuses_no_fence) {
  if (GetParam().in_containers && !ChildProcess::can_live_apart()) {
    GTEST_SKIP() << "neither root nor a user namespace can make a pid namespace here";
  }
  write_file(log_, "");
  std::vector<ChildProcess> workers;
  for (int i = 0; i < 4; ++i) workers.push_back(start_worker());
  const auto pause = static_cast<std::uint64_t>(GetParam().longest_pause.count());
  for (int i = 0; i < GetParam().kills; ++i) {
    std::this_thread::sleep_for(std::chrono::microseconds(random_() % pause));
    ChildProcess& victim = workers[random_() % workers.size()];
    EXPECT_TRUE(victim.is_running()) << "a worker gave up by itself";
    victim.kill_now();
    victim = start_worker();
  }
  workers.clear();
  expect_sound_history();
}

TEST_P(Killing, while_the_store_is_being_made_leaves_one_that_can_be_opened) {
  for (int i = 0; i < GetParam().kills / 4; ++i) {
    const TemporaryFolder folder;
    const auto open_it = [&] {
      auto given = options();
      given.path = folder.path();
      return open(std::move(given)) ? 0 : 1;
    };
    ChildProcess one(open_it);
    ChildProcess other(open_it);
    std::this_thread::sleep_for(std::chrono::microseconds(random_() % 3000));
    one.kill_now();
    EXPECT_EQ(other.join(), 0);
    EXPECT_EQ(open_it(), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(EveryWayToWrite, Killing,
                         ::testing::Values(Trial{"mapped", 220, 12ms, false, true},
                                           Trial{"written", 100, 12ms, false, false},
                                           Trial{"durable", 40, 40ms, true, false},
                                           Trial{"in_containers", 120, 12ms, false, true, true}),
                         [](const auto& trial) { return std::string(trial.param.what); });

}  // namespace

}  // namespace holdfast::test
