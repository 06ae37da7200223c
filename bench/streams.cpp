// SPDX-License-Identifier: Apache-2.0
//
// What listeners cost those who lock: the time of an acquire over HTTP while nobody subscribes to
// events, and while fifty do, at 5,000 events per second. Each repeat measures both, one after the
// other, on the same server.
#include "support/bars.hpp"
#include "support/http_client.hpp"
#include "support/peers.hpp"
#include "support/redis_server.hpp"
#include "support/started.hpp"
#include "support/temp_folder.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

namespace holdfast::bench {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::steady_clock;
using test::HttpConnection;

constexpr int repeats = 5;
constexpr std::size_t listeners = 50;
constexpr int pairs_per_s = 2'500;  // each is two events
constexpr auto measured_for = std::chrono::seconds(4);

std::string post(const std::string& at, const std::string& path, const std::string& body) {
  return test::request_text({.method = "POST", .path = path, .body = body}, at);
}

struct Times {
  double p50_us = 0;
  double p99_us = 0;
  double events_per_s = 0;
};

// One caller at a steady pace.
Times measure(const std::string& at) {
  HttpConnection caller(at);
  const auto acquire = post(at, "/v1/locks/bench/acquire", R"({"owner":"bench","ttl":"30s"})");
  const auto release = post(at, "/v1/locks/bench/release", R"({"owner":"bench"})");
  std::vector<double> times;
  const auto begin = steady_clock::now();
  for (auto next = begin; next < begin + measured_for;
       next += microseconds(1'000'000 / pairs_per_s)) {
    std::this_thread::sleep_until(next);
    const auto before = steady_clock::now();
    caller.send(acquire);
    if (caller.receive().status != 200) give_up("an acquire failed");
    times.push_back(
        std::chrono::duration<double, std::micro>(steady_clock::now() - before).count());
    caller.send(release);
    if (caller.receive().status != 200) give_up("a release failed");
  }
  const auto took = std::chrono::duration<double>(steady_clock::now() - begin).count();
  const auto pairs = static_cast<double>(times.size());
  return {percentile(times, 0.5), percentile(times, 0.99), 2 * pairs / took};
}

// Subscribers that read whatever comes.
class Listeners {
 public:
  explicit Listeners(const std::string& at) {
    for (std::size_t i = 0; i < listeners; ++i) {
      streams_.push_back(std::make_unique<HttpConnection>(at));
      streams_.back()->send(test::request_text({.path = "/v1/events"}, at));
    }
    reader_ = std::jthread([this](const std::stop_token& stop) { read(stop); });
  }

  double megabytes() const { return static_cast<double>(bytes_.load()) / 1e6; }

 private:
  void read(const std::stop_token& stop) {
    std::vector<pollfd> all;
    for (const auto& each : streams_) all.push_back({each->fd(), POLLIN, 0});
    std::vector<char> place(256 * 1024);
    // Listeners are elsewhere as a rule: they must not take the processor from the one who
    // measures.
    setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), 10);
    while (!stop.stop_requested()) {
      poll(all.data(), all.size(), 100);
      for (const auto& each : all) {
        if (each.revents == 0) continue;
        const auto got = recv(each.fd, place.data(), place.size(), MSG_DONTWAIT);
        if (got == 0) give_up("a subscriber was cut off");
        if (got > 0) bytes_ += static_cast<std::uint64_t>(got);
      }
    }
  }

  std::vector<std::unique_ptr<HttpConnection>> streams_;
  std::atomic<std::uint64_t> bytes_{0};
  std::jthread reader_;
};

void compare(const std::string& at) {
  std::vector<double> alone;
  std::vector<double> alone_tail;
  std::vector<double> heard;
  std::vector<double> heard_tail;
  std::vector<double> rates;
  std::vector<double> p50;
  std::vector<double> p99;
  std::vector<double> megabytes;
  for (int i = 0; i < repeats; ++i) {
    const auto quiet = measure(at);
    const Listeners crowd(at);
    std::this_thread::sleep_for(milliseconds(300));
    const auto busy = measure(at);
    alone.push_back(quiet.p50_us);
    alone_tail.push_back(quiet.p99_us);
    heard.push_back(busy.p50_us);
    heard_tail.push_back(busy.p99_us);
    rates.push_back(busy.events_per_s);
    p50.push_back(busy.p50_us / quiet.p50_us);
    p99.push_back(busy.p99_us / quiet.p99_us);
    megabytes.push_back(crowd.megabytes());
    if (crowd.megabytes() < 1) give_up("the subscribers heard nothing");
  }
  print_row("events", rates, "1/s");
  print_row("what subscribers read", megabytes, "MB");
  print_row("acquire alone, p50", alone, "us");
  print_row("acquire alone, p99", alone_tail, "us");
  print_row("acquire beside 50 listeners, p50", heard, "us");
  print_row("acquire beside 50 listeners, p99", heard_tail, "us");
  bar_at_most("dashboard.listeners_p50", median(p50), 1.2);
  bar_at_most("dashboard.listeners_p99", median(p99), 2);
}

}  // namespace
}  // namespace holdfast::bench

int main() {
  using namespace holdfast::bench;
  const TempFolder folder;
  const auto at = fmt::format("127.0.0.1:{}", holdfast::test::free_port());
  const Started server({HOLDFAST_BINARY, "serve", "--store", "memory:", "--listen", at},
                       folder.path() + "/serve.log");
  wait_for(at);
  compare(at);
}
