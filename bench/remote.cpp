// SPDX-License-Identifier: Apache-2.0
//
// A thousand leases of one `http:` client, behind a line that takes 10 ms each way, and a server
// that stands still for 0.9 s: how many are lost, and does the load come back to what it was?
#include <holdfast/holdfast.hpp>

#include "support/bars.hpp"
#include "support/direct.hpp"
#include "support/http_proxy.hpp"
#include "support/redis_server.hpp"
#include "support/started.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <thread>
#include <vector>

namespace holdfast::bench {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using test::HttpProxy;

constexpr std::size_t lease_count = 1000;
constexpr Duration lease_ttl = 30s;
constexpr auto one_way = 10ms;
constexpr auto stall = 900ms;
constexpr auto time_to_recover = 5s;
// Every lease is renewed once in that time.
constexpr auto window = 10s;
constexpr auto watched = 45s;

Client open_when_there(const std::string& url) {
  for (const auto end = Clock::now() + 10s; Clock::now() < end;) {
    if (auto client = open(url)) return std::move(*client);
    std::this_thread::sleep_for(10ms);
  }
  give_up("the server did not start");
}

// One after the other, so that their renewals are spread.
std::vector<Lease> take_all(const Client& client) {
  std::vector<Lease> leases;
  leases.reserve(lease_count);
  for (std::size_t i = 0; i < lease_count; ++i) {
    auto lease = client.mutex(order_name(i)).acquire({.ttl = lease_ttl, .wait = 5s});
    if (!lease) give_up(lease.error().message);
    leases.push_back(std::move(*lease));
  }
  return leases;
}

double requests_per_s(const HttpProxy& proxy) {
  const auto before = proxy.counts().requests;
  const auto began = Clock::now();
  std::this_thread::sleep_for(window);
  const std::chrono::duration<double> took = Clock::now() - began;
  return static_cast<double>(proxy.counts().requests - before) / took.count();
}

void measure() {
  const auto port = test::free_port();
  const Started server({HOLDFAST_BINARY, "serve", "--listen", fmt::format("127.0.0.1:{}", port),
                        "--store", "memory:"},
                       "/dev/null");
  open_when_there(fmt::format("http://127.0.0.1:{}", port));
  HttpProxy proxy(port);
  proxy.delay_requests(one_way);
  proxy.delay_replies(one_way);
  const Client client = open_when_there(proxy.url());
  const auto leases = take_all(client);
  const double before = requests_per_s(proxy);
  const auto connections = proxy.counts().connections;

  kill(server.pid(), SIGSTOP);
  std::this_thread::sleep_for(stall);
  kill(server.pid(), SIGCONT);
  const auto stalled_at = Clock::now();
  std::this_thread::sleep_for(time_to_recover);
  const double after = requests_per_s(proxy);
  std::this_thread::sleep_until(stalled_at + watched);
  const auto lost = std::ranges::count_if(
      leases, [](const Lease& lease) { return lease.lost().stop_requested(); });

  print_row("1,000 leases, ttl 30 s, 10 ms each way", {before}, "requests/s");
  print_row("the same, 5 s after a stall of 0.9 s", {after}, "requests/s");
  print_row("leases lost within 45 s of the stall", {static_cast<double>(lost)}, "");
  print_row("connections made after the stall",
            {static_cast<double>(proxy.counts().connections - connections)}, "");
  bar_at_most("remote.leases_lost_after_stall", static_cast<double>(lost), 0);
  bar_at_most("remote.requests_after_stall_vs_before", after / before, 1.2);
}

}  // namespace
}  // namespace holdfast::bench

int main() { holdfast::bench::measure(); }
