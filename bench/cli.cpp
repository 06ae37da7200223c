// SPDX-License-Identifier: Apache-2.0
//
// The program: what `holdfast run` costs beside flock(1), how much memory it takes, and what a
// waiting one uses of the processor.
#include "support/bars.hpp"
#include "support/redis_server.hpp"
#include "support/started.hpp"
#include "support/temp_folder.hpp"

#include <boost/json/parse.hpp>
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>

namespace holdfast::bench {
namespace {

constexpr int repeats = 5;
constexpr int runs = 200;
constexpr auto from = std::chrono::seconds(5);
constexpr auto until = std::chrono::seconds(65);

std::vector<std::string> run_words(const std::string& store, std::vector<std::string> command) {
  std::vector<std::string> words{HOLDFAST_BINARY, "--store", store, "run", "x", "--"};
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

// Both in one run of hyperfine, so that a noisy minute hits both alike. Medians.
void compare_with_flock(const TempFolder& folder) {
  const auto store = "file:" + folder.make("run");
  const auto file = folder.path() + "/flock";
  const auto json = folder.path() + "/hyperfine.json";
  std::vector<double> ours;
  std::vector<double> theirs;
  std::vector<double> ratios;
  for (int i = 0; i < repeats; ++i) {
    const auto line = fmt::format(
        "hyperfine --shell=none --warmup 20 --runs {} --style none --export-json {} "
        "'flock {} true' '{} --store {} run x -- true' > /dev/null 2>&1",
        runs, json, file, HOLDFAST_BINARY, store);
    if (std::system(line.c_str()) != 0) give_up("hyperfine failed; is it installed?");
    const auto results = boost::json::parse(contents(json)).at("results").as_array();
    theirs.push_back(results.at(0).at("median").as_double() * 1e3);
    ours.push_back(results.at(1).at("median").as_double() * 1e3);
    ratios.push_back(ours.back() / theirs.back());
  }
  print_row("flock FILE true", theirs, "ms");
  print_row("holdfast run x -- true", ours, "ms");
  print_row("ratio", ratios, "");
  bar_at_most("cli.run_vs_flock", median(ratios), 3);
}

void weigh(const TempFolder& folder) {
  std::vector<double> sizes;
  for (int i = 0; i < repeats; ++i) {
    const Started run(run_words("file:" + folder.make(fmt::format("rss{}", i)), {"sleep", "9"}));
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    sizes.push_back(run.most_resident_mb());
  }
  print_row("memory of holdfast run", sizes, "MB");
  bar_at_most("cli.run_rss_mb", median(sizes), 12);
}

struct Wait {
  std::unique_ptr<Started> holder;
  std::unique_ptr<Started> waiter;
  double cpu_ms = 0;
};

Wait start_wait(const std::string& store) {
  Wait wait;
  wait.holder = std::make_unique<Started>(run_words(store, {"sleep", "600"}));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  wait.waiter = std::make_unique<Started>(run_words(store, {"true"}));
  return wait;
}

// All repeats in the same minute: they do nothing, so they do not disturb each other.
void watch_waiters(const TempFolder& folder) {
  std::vector<std::unique_ptr<test::RedisServer>> servers;
  std::vector<Wait> on_file;
  std::vector<Wait> on_redis;
  for (int i = 0; i < 3; ++i) {
    servers.push_back(std::make_unique<test::RedisServer>());
    on_file.push_back(start_wait("file:" + folder.make(fmt::format("wait{}", i))));
    on_redis.push_back(start_wait(servers.back()->url()));
  }
  std::this_thread::sleep_for(from);
  const auto each = [&](auto look) {
    for (auto& wait : on_file) look(wait);
    for (auto& wait : on_redis) look(wait);
  };
  each([](Wait& wait) { wait.cpu_ms = -wait.waiter->cpu_ms(); });
  std::this_thread::sleep_for(until - from);
  each([](Wait& wait) { wait.cpu_ms += wait.waiter->cpu_ms(); });
  const auto report = [](const char* label, const char* name, const std::vector<Wait>& waits) {
    std::vector<double> used;
    for (const auto& wait : waits) used.push_back(wait.cpu_ms);
    print_row(label, used, "ms");
    bar_at_most(name, median(used), 20);
  };
  report("a minute of waiting, file:", "cli.waiting_cpu_ms_file", on_file);
  report("a minute of waiting, redis:", "cli.waiting_cpu_ms_redis", on_redis);
}

}  // namespace
}  // namespace holdfast::bench

int main() {
  using namespace holdfast::bench;
  const TempFolder folder;
  compare_with_flock(folder);
  weigh(folder);
  watch_waiters(folder);
}
