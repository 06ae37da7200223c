// SPDX-License-Identifier: Apache-2.0
#include "faults_redis/chaos.hpp"

#include "faults_redis/crew.hpp"
#include "faults_redis/faults_fixture.hpp"
#include "faults_redis/topology.hpp"
#include "faults_redis/trouble.hpp"
#include "faults_redis/wall_clock.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>

namespace holdfast::faults {

namespace {

class Round {
 public:
  explicit Round(std::uint64_t seed) : seed_(seed), dice_(seed), log_(mixed_names()) {
    for (ProcessId i = 0; i < crews; ++i) {
      LoadPlan plan{.locks = mixed_locks(), .clients = 1, .threads = 3, .first_process = i + 1};
      if (dice_.one_in(3)) plan.least_ttl = 200ms;
      crews_.push_back(std::make_unique<Crew>(log_, plan, dice_.seed()));
    }
  }

  bool run() {
    start_servers();
    const auto address = topology_ ? topology_->relay().port() : server_->port();
    proxy_.emplace(address);
    for (const auto& crew : crews_) {
      // Every second one has a good line.
      const auto port = &crew == &crews_[0] || dice_.one_in(2) ? proxy_->port() : address;
      if (!crew->start("redis://127.0.0.1:" + std::to_string(port))) return complain("no start");
    }
    const Time end = log_.now() + dice_.between(3000, 6000) * millisecond;
    // The line goes bad at the same time as the server and the processes, or only they do.
    const std::uint64_t line_seed = dice_.one_in(4) ? 0 : dice_.seed();
    std::jthread line([this, end, line_seed] {
      Dice own(line_seed);
      while (line_seed != 0 && log_.now() < end) {
        ++faults_;
        strike(*proxy_, static_cast<LineFault>(own.between(0, line_faults - 1)), log_, own);
        own.rest(0us, 300ms);
      }
    });
    while (log_.now() < end) {
      trouble();
      dice_.rest(0us, 400ms);
    }
    line.join();
    return settle();
  }

 private:
  static constexpr ProcessId crews = 4;

  bool complain(const std::string& what) const {
    fmt::print("seed {}: {}\n", seed_, what);
    return false;
  }

  // A server alone, whose clock is set now and then, or one with a replica. Beside some of them
  // somebody listens to every channel.
  void start_servers() {
    has_replica_ = dice_.one_in(2);
    steps_clock_ = !has_replica_ && dice_.one_in(3);
    server_.emplace(for_replication(), clock_.environment());
    if (has_replica_) {
      second_.emplace(for_replication());
      topology_.emplace(*server_, *second_);
    }
    if (!dice_.one_in(3)) return;
    listener_.emplace(*server_);
    listener_->call({"PSUBSCRIBE", "*"});
  }

  test::RedisServer& primary() { return topology_ ? topology_->primary() : *server_; }

  void change_primary() {
    switch (dice_.between(0, 3)) {
      case 0:
      case 1: topology_->failover(log_); break;
      case 2: topology_->hand_over(log_); break;
      default:
        if (dice_.one_in(2)) topology_->hold_replication();
        dice_.rest(0us, 200ms);
        topology_->crash_over(log_, dice_);
    }
  }

  void trouble() {
    ++faults_;
    const auto which = dice_.between(0, 9);
    if (has_replica_ && which < 2) {
      change_primary();
    } else if (steps_clock_ && which == 0) {
      const Micros by = dice_.time(100ms, 4s);
      clock_.step(dice_.one_in(2) ? by : -by, log_);
    } else if (which < 4) {
      test::RawRedis raw(primary());
      strike(raw, static_cast<ServerFault>(dice_.between(0, server_faults - 1)), log_, dice_,
             clock_.ahead());
    } else if (which < 6) {
      stop_for(primary(), 20ms, 1500ms, log_, dice_);
    } else if (which < 7) {
      kill_and_restart(primary(), 300ms, log_, dice_);
    } else if (which < 9) {
      stop_crew();
    } else if (dice_.one_in(2)) {
      // The first one stays, so that somebody is there to the end.
      crews_[static_cast<std::size_t>(dice_.between(1, crews - 1))]->kill();
    }
  }

  void stop_crew() {
    Crew& crew = *crews_[static_cast<std::size_t>(dice_.between(0, crews - 1))];
    crew.stop();
    dice_.rest(20ms, 1500ms);
    crew.cont();
  }

  std::int64_t increments() const {
    std::int64_t sum = 0;
    for (history::NameId name = 1; name <= log_.names().size(); ++name) sum += log_.value_of(name);
    return sum;
  }

  // The faults are over: everybody is served, ends, and leaves nothing.
  bool settle() {
    for (const auto& crew : crews_) crew->calm_down();
    const Time now = log_.now();
    const Time patience = std::chrono::nanoseconds(at_most(3000ms)).count();
    log_.add({.at = now, .until = now + patience, .what = What::calm});
    // More than there are threads: each of them was served.
    const auto enough = increments() + 20;
    if (!eventually([&] { return increments() >= enough; })) return complain("everybody is stuck");
    Crew::Counts all;
    for (const auto& crew : crews_) {
      if (!crew->is_alive()) continue;
      const auto counts = crew->end();
      if (counts.grants == 0) return complain("a process was stuck, or never got a lock");
      all.grants += counts.grants;
      all.losses += counts.losses;
      all.complaints += counts.complaints;
    }
    const auto left = left_behind(primary());
    const auto broken = broken_promises(log_, fmt::format("chaos-{}", seed_));
    fmt::print("seed {}: {} faults{}, {} grants, {} losses\n{}{}", seed_, faults_.load(),
               has_replica_ ? " with a replica" : "", all.grants, all.losses, left, broken);
    return left.empty() && broken.empty() && all.complaints == 0;
  }

  const std::uint64_t seed_;
  Dice dice_;
  SharedLog log_;
  std::vector<std::unique_ptr<Crew>> crews_;
  WallClock clock_;
  bool has_replica_ = false;
  bool steps_clock_ = false;
  std::optional<test::RedisServer> server_;
  std::optional<test::RedisServer> second_;
  std::optional<Topology> topology_;
  std::optional<test::RawRedis> listener_;
  std::optional<test::FaultProxy> proxy_;
  std::atomic<int> faults_ = 0;
};

}  // namespace

bool run_round_apart(std::uint64_t seed) {
  std::fflush(nullptr);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) return false;
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    bool good = false;
    try {
      good = Round(seed).run();
    } catch (const std::exception& error) {
      fmt::print("seed {}: {}\n", seed, error.what());
    }
    std::fflush(nullptr);
    _exit(good ? 0 : 1);
  }
  int status = 0;
  return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace holdfast::faults
