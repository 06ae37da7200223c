// SPDX-License-Identifier: Apache-2.0
#include "chaos/round.hpp"

#include "chaos/place.hpp"
#include "faults_redis/crew.hpp"
#include "faults_redis/faults_fixture.hpp"
#include "faults_redis/trouble.hpp"
#include "history/check.hpp"

#include <fmt/format.h>
#include <spdlog/sinks/null_sink.h>
#include <spdlog/spdlog.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <sstream>

namespace holdfast::faults {

namespace {

struct Kind {
  std::string_view name;
  std::unique_ptr<Place> (*make)();
};
constexpr Kind kinds[] = {{"redis", make_redis_place},
                          {"redlock", make_redlock_place},
                          {"file", make_file_place},
                          {"http", make_http_place}};

class Round {
 public:
  Round(const Kind& kind, std::uint64_t seed)
      : seed_(seed), kind_(kind), dice_(seed), log_(mixed_names()), place_(kind.make()) {
    for (ProcessId i = 0; i < crews; ++i) crews_.push_back(new_crew());
  }

  Tally run() {
    tally_.rounds = 1;
    place_->start(log_, dice_);
    for (const auto& crew : crews_) {
      // Every second one has a good line.
      if (!crew->start(place_->url(&crew == &crews_[0] || dice_.one_in(2)))) {
        complain("no start");
        return tally_;
      }
    }
    const Time end = log_.now() + dice_.between(3000, 6000) * millisecond;
    // The line goes bad at the same time as the server and the processes, or only they do.
    std::thread line;
    std::uint64_t line_strikes = 0;
    if (place_->line() != nullptr && !dice_.one_in(4)) {
      line = std::thread([this, end, &line_strikes, seed = dice_.seed()] {
        Dice own(seed);
        for (; log_.now() < end; ++line_strikes) {
          strike(*place_->line(), static_cast<LineFault>(own.between(0, line_faults - 1)), log_,
                 own);
          own.rest(0us, 300ms);
        }
      });
    }
    while (log_.now() < end) {
      trouble();
      dice_.rest(0us, 400ms);
    }
    if (line.joinable()) line.join();
    if (line_strikes != 0) tally_.faults["bad line"] = line_strikes;
    settle();
    return tally_;
  }

 private:
  static constexpr ProcessId crews = 4;

  void complain(const std::string& what) {
    ++tally_.failed;
    fmt::print("{} seed {}: {}\n", kind_.name, seed_, what);
  }

  std::unique_ptr<Crew> new_crew() {
    LoadPlan plan = place_->plan();
    plan.clients = 1;
    plan.threads = 3;
    plan.first_process = ++last_process_;
    if (dice_.one_in(3)) plan.least_ttl = plan.least_ttl * 2 / 3;
    return std::make_unique<Crew>(log_, plan, dice_.seed());
  }

  void trouble() {
    const bool with_a_process = dice_.one_in(3);
    const std::string_view what = with_a_process ? "" : place_->trouble(log_, dice_);
    if (!what.empty()) {
      ++tally_.faults[std::string(what)];
    } else if (!dice_.one_in(3)) {
      stop_crew();
    } else {
      kill_crew();
    }
  }

  void stop_crew() {
    ++tally_.faults["process stopped"];
    Crew& crew = *crews_[static_cast<std::size_t>(dice_.between(0, crews - 1))];
    crew.stop();
    dice_.rest(20ms, 1500ms);
    crew.cont();
  }

  // The first one stays, so that somebody is there to the end.
  void kill_crew() {
    auto& crew = crews_[static_cast<std::size_t>(dice_.between(1, crews - 1))];
    if (!crew->is_alive()) return;
    ++tally_.faults["process killed"];
    crew->kill();
    // Without threads here another one can take its place.
    if (place_->line() != nullptr) return;
    auto next = new_crew();
    if (next->start(place_->url(false))) crew = std::move(next);
  }

  std::int64_t increments() const {
    std::int64_t sum = 0;
    for (history::NameId name = 1; name <= log_.names().size(); ++name) sum += log_.value_of(name);
    return sum;
  }

  // The faults are over: everybody is served, ends, and leaves nothing.
  void settle() {
    for (const auto& crew : crews_) crew->calm_down();
    const Time now = log_.now();
    const Time patience = std::chrono::nanoseconds(at_most(3000ms)).count();
    log_.add({.at = now, .until = now + patience, .what = What::calm});
    // More than there are threads: each of them was served.
    const auto enough = increments() + 20;
    if (!eventually([&] { return increments() >= enough; })) return complain("everybody is stuck");
    for (const auto& crew : crews_) {
      if (!crew->is_alive()) continue;
      const auto counts = crew->end();
      if (counts.grants == 0) return complain("a process was stuck, or never got a lock");
      tally_.losses += counts.losses;
      if (counts.complaints != 0)
        complain(fmt::format("{} calls took too long", counts.complaints));
    }
    tally_.operations = log_.history().attempts.size();
    if (const auto left = place_->left_behind(); !left.empty()) complain("left behind: " + left);
    const auto broken = broken_promises(log_, fmt::format("chaos-{}-{}", kind_.name, seed_));
    if (broken.empty()) return;
    tally_.violations = std::stoull(broken);
    complain(broken);
  }

  const std::uint64_t seed_;
  const Kind& kind_;
  Dice dice_;
  SharedLog log_;
  std::unique_ptr<Place> place_;
  ProcessId last_process_ = 0;
  std::vector<std::unique_ptr<Crew>> crews_;
  Tally tally_;
};

std::string to_text(const Tally& tally) {
  std::string text = fmt::format("{} {} {} {} {}\n", tally.rounds, tally.failed, tally.operations,
                                 tally.losses, tally.violations);
  for (const auto& [kind, count] : tally.faults) text += fmt::format("{} {}\n", count, kind);
  return text;
}

Tally from_text(const std::string& text) {
  Tally tally;
  std::istringstream in(text);
  in >> tally.rounds >> tally.failed >> tally.operations >> tally.losses >> tally.violations;
  std::uint64_t count = 0;
  for (std::string kind; in >> count >> std::ws && std::getline(in, kind);) {
    tally.faults[kind] = count;
  }
  return tally;
}

// What clients say of all that is far too much; what they were told is in the history.
void keep_clients_quiet() {
  spdlog::register_logger(std::make_shared<spdlog::logger>(
      "holdfast", std::make_shared<spdlog::sinks::null_sink_mt>()));
}

[[noreturn]] void be_a_round(const Kind& kind, std::uint64_t seed, int tell) {
  keep_clients_quiet();
  Tally tally{.rounds = 1, .failed = 1};
  try {
    tally = Round(kind, seed).run();
  } catch (const std::exception& error) {
    fmt::print("{} seed {}: {}\n", kind.name, seed, error.what());
  }
  std::fflush(nullptr);
  const std::string text = to_text(tally);
  if (write(tell, text.data(), text.size()) < 0) _exit(2);
  _exit(0);
}

}  // namespace

std::uint64_t Tally::fault_count() const {
  std::uint64_t sum = 0;
  for (const auto& [kind, count] : faults) sum += count;
  return sum;
}

Tally& Tally::operator+=(const Tally& other) {
  rounds += other.rounds;
  failed += other.failed;
  operations += other.operations;
  losses += other.losses;
  violations += other.violations;
  for (const auto& [kind, count] : other.faults) faults[kind] += count;
  return *this;
}

std::vector<std::string_view> store_kinds() {
  std::vector<std::string_view> names;
  for (const Kind& each : kinds) names.push_back(each.name);
  return names;
}

Tally run_round_apart(std::string_view store, std::uint64_t seed) {
  const Kind* const kind = std::ranges::find(kinds, store, &Kind::name);
  std::fflush(nullptr);
  int ends[2];
  const pid_t parent = getpid();
  if (pipe(ends) != 0) return {.rounds = 1, .failed = 1};
  const pid_t pid = fork();
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    close(ends[0]);
    be_a_round(*kind, seed, ends[1]);
  }
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t got = 0; (got = read(ends[0], buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<std::size_t>(got));
  }
  close(ends[0]);
  if (pid > 0) waitpid(pid, nullptr, 0);
  if (text.empty()) {
    fmt::print("{} seed {}: the round crashed\n", store, seed);
    return {.rounds = 1, .failed = 1};
  }
  return from_text(text);
}

}  // namespace holdfast::faults
