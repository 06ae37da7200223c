// SPDX-License-Identifier: Apache-2.0
//
// What n8n workflows ask for. Rate limits: how many checks per second 64 callers get out of one
// connection, against redis-benchmark sending the same scripts for the same keys. Locks: how long a
// client of the server waits once the holder lets go; the original looks once a second.
#include <holdfast/holdfast.hpp>

#include "backends/redis/rate_limit.hpp"
#include "runtime/spawn.hpp"
#include "support/bars.hpp"
#include "support/http_client.hpp"
#include "support/processes.hpp"
#include "support/redis.hpp"
#include "support/started.hpp"
#include "support/temp_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <semaphore>
#include <thread>

namespace holdfast::bench {

namespace {

using namespace std::chrono_literals;
using test::HttpConnection;

constexpr std::size_t repeats = 5;
constexpr std::size_t in_flight = 64;
constexpr std::size_t checks_of_redis_benchmark = 100'000;
constexpr auto warm_up = 300ms;
constexpr auto window = 1500ms;
constexpr std::size_t handovers = 200;
// Time for a request to be waiting at the server.
constexpr auto settle = 5ms;

using Samples = std::vector<double>;

// Never denied. A second is short enough for every slice of a sliding window to have hits in it.
constexpr RateRule rule_of(RateAlgorithm algorithm) {
  return {.algorithm = algorithm, .limit = max_rate_limit, .window = 1s};
}

struct Checks {
  std::atomic<bool> stop = false;
  std::atomic<std::uint64_t> done = 0;
};

Task<bool> check_until_stopped(RateLimit limit, Checks* checks) {
  while (!checks->stop.load(std::memory_order_relaxed)) {
    auto checking = limit.async_check();
    const Result<RateOutcome> outcome = co_await std::move(checking);
    if (!outcome) give_up(outcome.error().message);
    if (!outcome->allowed) give_up("a check was denied");
    checks->done.fetch_add(1, std::memory_order_relaxed);
  }
  co_return true;
}

// redis-benchmark puts twelve digits where it is told to.
std::string scope_of(std::size_t number) { return fmt::format("order-{:012}", number); }
constexpr std::string_view any_scope = "order-__rand_int__";

// On a busy machine the server's own time tells more than the rate.
struct Measured {
  double per_s = 0;
  double server_us = 0;  // processor time of a check
};
struct Runs {
  Samples per_s;
  Samples server_us;
  void add(const Measured& measured) {
    per_s.push_back(measured.per_s);
    server_us.push_back(measured.server_us);
  }
};

Measured checks_of_ours(const Client& client, const RedisServer& server, const RateRule& rule) {
  Checks checks;
  std::counting_semaphore<in_flight> ended(0);
  for (std::size_t i = 0; i < in_flight; ++i) {
    runtime::spawn(check_until_stopped(client.rate_limit(scope_of(i), rule), &checks),
                   [&](bool) { ended.release(); });
  }
  std::this_thread::sleep_for(warm_up);
  const std::uint64_t before = checks.done;
  const double used_before = cpu_seconds_of(server.pid());
  const std::int64_t began = monotonic_ns();
  std::this_thread::sleep_for(window);
  const auto done = static_cast<double>(checks.done - before);
  const double seconds = static_cast<double>(monotonic_ns() - began) / 1e9;
  const double used = cpu_seconds_of(server.pid()) - used_before;
  checks.stop = true;
  for (std::size_t i = 0; i < in_flight; ++i) ended.acquire();
  return {done / seconds, used / done * 1e6};
}

// The words of a command in RESP.
std::vector<std::string> words_of(std::string_view bytes) {
  std::vector<std::string> words;
  for (auto at = bytes.find('$'); at < bytes.size();) {
    const auto end_of_line = bytes.find('\n', at);
    const auto size = std::strtoull(bytes.data() + at + 1, nullptr, 10);
    words.emplace_back(bytes.substr(end_of_line + 1, size));
    at = end_of_line + 1 + size + 2;
  }
  return words;
}

Measured checks_of_theirs(const RedisServer& server, const RateRule& rule) {
  const backends::redis::Scripts scripts({});
  const auto name = model::limit_name(any_scope, rule);
  if (!name) give_up(name.error().message);
  std::vector<std::string> line = {"redis-benchmark", "-p", std::to_string(server.port())};
  for (const char* word : {"-c", "1", "-P", "64", "-r", "64", "--csv", "-n"}) {
    line.emplace_back(word);
  }
  line.push_back(std::to_string(checks_of_redis_benchmark));
  for (auto& word : words_of(encode_rate(scripts, *name, {.rule = rule}, {}))) {
    line.push_back(std::move(word));
  }
  // A heading, and a line that begins with the command and its rate.
  const double used_before = cpu_seconds_of(server.pid());
  const std::string text = output_of(line);
  const double used = cpu_seconds_of(server.pid()) - used_before;
  const std::size_t second = text.find('\n') + 1;
  const std::size_t rate = text.find("\",\"", second);
  if (second == 0 || rate == std::string::npos) give_up("redis-benchmark says: " + text);
  return {std::strtod(text.c_str() + rate + 3, nullptr), used / checks_of_redis_benchmark * 1e6};
}

// The worst of the three algorithms counts.
void compare_rate_checks() {
  const PinnedRedis server;
  const auto client = open(server->url());
  if (!client) give_up(client.error().message);
  double worst = 0;
  for (const auto algorithm :
       {RateAlgorithm::sliding_window, RateAlgorithm::token_bucket, RateAlgorithm::fixed_window}) {
    const auto rule = rule_of(algorithm);
    Runs theirs;
    Runs ours;
    Samples ratios;
    checks_of_ours(*client, *server, rule);  // loads the script
    for (std::size_t i = 0; i < repeats; ++i) {
      theirs.add(checks_of_theirs(*server, rule));
      ours.add(checks_of_ours(*client, *server, rule));
      ratios.push_back(ours.per_s.back() / theirs.per_s.back());
    }
    const auto print = [&](std::string_view who, const Runs& runs) {
      print_row(fmt::format("{}: {}", to_string(algorithm), who), runs.per_s, "checks/s",
                fmt::format("{:.1f} us of the server each", median(runs.server_us)));
    };
    print("redis-benchmark -P 64", theirs);
    print("64 coroutines", ours);
    print_row(fmt::format("{}: ratio", to_string(algorithm)), ratios, "");
    worst = worst == 0 ? median(ratios) : std::min(worst, median(ratios));
  }
  bar_at_least("n8n.rate_check_vs_pipeline", worst, 0.8);
}

// A client of the server, which keeps its connection.
class Workflow {
 public:
  Workflow(const std::string& address, std::string lock_id)
      : address_(address), lock_id_(std::move(lock_id)), connection_(address) {
    if (!connection_.is_connected()) give_up("nobody listens on " + address);
  }

  void ask_for_lock() {
    post("/n8n/lock_acquisition",
         fmt::format(R"({{"scope":"bench","ttl_seconds":60,"wait_till_lock_released":true,)"
                     R"("max_wait_seconds":60,"lock_id":"{}"}})",
                     lock_id_));
  }
  void ask_to_release() {
    post("/n8n/lock_release", fmt::format(R"({{"scope":"bench","lock_id":"{}"}})", lock_id_));
  }
  // Ends the program unless the answer says so.
  void expect(std::string_view field) {
    const auto answer = connection_.receive();
    const auto json = answer.json();
    const auto* const object = json.if_object();
    const auto* const told = object != nullptr ? object->if_contains(field) : nullptr;
    if (told == nullptr || !told->is_bool() || !told->get_bool()) {
      give_up(fmt::format("not {}: {} {}", field, answer.status, answer.body));
    }
  }

 private:
  void post(std::string path, std::string body) {
    connection_.send(test::request_text(
        {.method = "POST", .path = std::move(path), .body = std::move(body)}, address_));
  }

  const std::string address_;
  const std::string lock_id_;
  HttpConnection connection_;
};

// Two clients that take turns; each waits while the other holds. In milliseconds.
Samples handover_times(const std::string& address) {
  Workflow one(address, "execution-1");
  Workflow other(address, "execution-2");
  Workflow* holder = &one;
  Workflow* waiter = &other;
  holder->ask_for_lock();
  holder->expect("acquired");
  Samples times;
  for (std::size_t i = 0; i < handovers; ++i) {
    waiter->ask_for_lock();
    std::this_thread::sleep_for(settle);
    const std::int64_t began = monotonic_ns();
    holder->ask_to_release();
    waiter->expect("acquired");
    times.push_back(static_cast<double>(monotonic_ns() - began) / 1e6);
    holder->expect("released");
    std::swap(holder, waiter);
  }
  holder->ask_to_release();
  holder->expect("released");
  return times;
}

void wait_until_it_listens(const std::string& address) {
  for (int tries = 0; tries < 1000; ++tries) {
    if (HttpConnection(address).is_connected()) return;
    std::this_thread::sleep_for(10ms);
  }
  give_up("nobody listens on " + address);
}

void measure_handovers() {
  const RedisServer redis;
  const TempFolder folder;
  const auto address = fmt::format("127.0.0.1:{}", test::free_port());
  const Started server(
      {HOLDFAST_BINARY, "serve", "--store", redis.url() + "?profile=n8n", "--listen", address},
      folder.path() + "/serve.log");
  wait_until_it_listens(address);
  Samples p50;
  Samples p99;
  for (std::size_t i = 0; i < repeats; ++i) {
    const auto times = handover_times(address);
    p50.push_back(median(times));
    p99.push_back(percentile(times, 0.99));
  }
  print_row("hand-over between two HTTP clients, p50", p50, "ms");
  print_row("hand-over between two HTTP clients, p99", p99, "ms");
  bar_at_most("n8n.n8n_handover_p50_ms", median(p50), 5);
}

}  // namespace

}  // namespace holdfast::bench

int main() {
  using namespace holdfast::bench;
  // It pins the thread it runs on, and all that this one starts; the server is not to be pinned.
  std::thread(compare_rate_checks).join();
  measure_handovers();
}
