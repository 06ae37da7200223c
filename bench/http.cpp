// SPDX-License-Identifier: Apache-2.0
//
// The server: requests per second beside nginx under the same wrk script, what ten thousand waiting
// clients cost, and how it starts.
#include "support/bars.hpp"
#include "support/http_client.hpp"
#include "support/peers.hpp"
#include "support/redis_server.hpp"
#include "support/started.hpp"
#include "support/temp_folder.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <regex>
#include <thread>

namespace holdfast::bench {
namespace {

using std::chrono::milliseconds;
using test::free_port;
using test::HttpConnection;

constexpr int repeats = 5;
constexpr int connections = 50;
constexpr int seconds = 4;
constexpr std::size_t crowd = 10'000;

// Acquires five hundred names, then releases them: far enough apart for fifty connections. Each
// server gets the same requests.
constexpr auto script = R"(
local count, block, names = 0, 500, 0
local run = "bench-" .. os.time() .. "-"
local headers = { ["Content-Type"] = "application/json" }
function request()
  local at = count % (2 * block)
  count = count + 1
  if at == 0 then names = names + block end
  if at < block then
    return wrk.format("POST", "/v1/locks/" .. run .. (names + at) .. "/acquire", headers,
      '{"owner":"bench","ttl":"30s"}')
  end
  return wrk.format("POST", "/v1/locks/" .. run .. (names + at - block) .. "/release", headers,
    '{"owner":"bench"}')
end
)";

// What nginx answers: as long as a lease.
constexpr auto nginx_config = R"(
daemon off;
worker_processes 1;
pid {0}/nginx.pid;
error_log {0}/error.log;
events {{ worker_connections 4096; }}
http {{
  access_log off;
  keepalive_requests 100000000;
  client_body_temp_path {0}/body; proxy_temp_path {0}/proxy; fastcgi_temp_path {0}/fastcgi;
  uwsgi_temp_path {0}/uwsgi; scgi_temp_path {0}/scgi;
  server {{
    listen 127.0.0.1:{1};
    default_type application/json;
    location / {{ return 200 '{{"name":"bench-1","owner":"bench","fence":1794824118754014,"expires_at":"2026-11-16T10:15:29.788Z","expires_in_ms":30000,"waited_ms":0}}'; }}
  }}
}}
)";

struct Measured {
  double requests_per_s = 0;
  double p99_us = 0;
};

double in_us(const std::string& number, const std::string& unit) {
  const double scale = unit == "us" ? 1 : unit == "ms" ? 1e3 : 1e6;
  return std::stod(number) * scale;
}

Measured run_wrk(const std::string& address, const std::string& lua) {
  const auto line = fmt::format("wrk -t1 -c{} -d{}s --latency -s {} http://{} 2>&1", connections,
                                seconds, lua, address);
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(line.c_str(), "r"), pclose);
  std::string out;
  std::array<char, 4096> piece{};
  while (const auto got = fread(piece.data(), 1, piece.size(), pipe.get())) {
    out.append(piece.data(), got);
  }
  std::smatch rate;
  std::smatch tail;
  if (!std::regex_search(out, rate, std::regex(R"(Requests/sec:\s+([0-9.]+))")) ||
      !std::regex_search(out, tail, std::regex(R"(99%\s+([0-9.]+)(us|ms|s))"))) {
    give_up("wrk said something else: " + out);
  }
  if (out.find("Non-2xx") != std::string::npos) fmt::print("  wrk: {}\n", out);
  return {std::stod(rate[1]), in_us(tail[1], tail[2])};
}

void compare_with_nginx(const TempFolder& folder) {
  const auto lua = write_file(folder, "pair.lua", script);
  const auto nginx_at = fmt::format("127.0.0.1:{}", free_port());
  const auto ours_at = fmt::format("127.0.0.1:{}", free_port());
  const auto config =
      write_file(folder, "nginx.conf",
                 fmt::format(nginx_config, folder.path(), nginx_at.substr(nginx_at.find(':') + 1)));
  const Started nginx({"nginx", "-c", config, "-e", folder.path() + "/error.log"});
  const Started ours({HOLDFAST_BINARY, "serve", "--store", "memory:", "--listen", ours_at},
                     folder.path() + "/serve.log");
  wait_for(nginx_at);
  wait_for(ours_at);
  std::vector<double> floor;
  std::vector<double> rates;
  std::vector<double> ratios;
  std::vector<double> tails;
  for (int i = 0; i < repeats; ++i) {
    const auto theirs = run_wrk(nginx_at, lua);
    const auto mine = run_wrk(ours_at, lua);
    floor.push_back(theirs.requests_per_s);
    rates.push_back(mine.requests_per_s);
    ratios.push_back(mine.requests_per_s / theirs.requests_per_s);
    tails.push_back(mine.p99_us / theirs.p99_us);
  }
  print_row("nginx return 200", floor, "requests/s");
  print_row("acquire and release", rates, "requests/s");
  print_row("ratio", ratios, "");
  print_row("p99 by p99", tails, "");
  bar_at_least("http.http_vs_nginx", median(ratios), 0.6);
  bar_at_most("http.http_p99_vs_nginx", median(tails), 5);
}

// Readable sockets, of which none was before.
std::size_t answered(const std::vector<std::unique_ptr<HttpConnection>>& clients) {
  std::vector<pollfd> waits;
  for (const auto& each : clients)
    waits.push_back({.fd = each->fd(), .events = POLLIN, .revents = 0});
  poll(waits.data(), waits.size(), 0);
  return static_cast<std::size_t>(
      std::ranges::count_if(waits, [](const pollfd& each) { return each.revents != 0; }));
}

struct Crowd {
  double each_kib = 0;
  double cpu_percent = 0;
  double woken = 0;
};

Crowd watch_crowd(const TempFolder& folder) {
  const auto config = write_file(folder, "config.yml",
                                 "server:\n  limits:\n    max_waiters_per_name: 16000\n"
                                 "    max_connections: 20000\n");
  const auto at = fmt::format("127.0.0.1:{}", free_port());
  const Started server(
      {HOLDFAST_BINARY, "--config", config, "serve", "--store", "memory:", "--listen", at},
      folder.path() + "/crowd.log");
  wait_for(at);
  const auto call = [&](HttpConnection& on, std::string path, std::string body) {
    on.send(test::request_text({.method = "POST", .path = std::move(path), .body = std::move(body)},
                               at));
  };
  HttpConnection holder(at);
  call(holder, "/v1/locks/crowd/acquire", R"({"owner":"holder","ttl":"1h"})");
  if (holder.receive().status != 200) give_up("the first acquire failed");
  const double before = server.resident_mb();
  std::vector<std::unique_ptr<HttpConnection>> clients;
  for (std::size_t i = 0; i < crowd; ++i) {
    clients.push_back(std::make_unique<HttpConnection>(at));
    if (!clients.back()->is_connected()) give_up("too few descriptors for the crowd");
    call(*clients.back(), "/v1/locks/crowd/acquire", R"({"ttl":"1h","wait":"1h"})");
  }
  std::this_thread::sleep_for(std::chrono::seconds(5));
  const double each_kib = (server.resident_mb() - before) * 1024 / crowd;
  const double used = server.cpu_ms();
  std::this_thread::sleep_for(std::chrono::seconds(10));
  const double cpu_percent = (server.cpu_ms() - used) / 10'000 * 100;
  if (answered(clients) != 0) give_up("somebody was woken without a release");
  call(holder, "/v1/locks/crowd/release", R"({"owner":"holder"})");
  if (holder.receive().status != 200) give_up("the release failed");
  std::this_thread::sleep_for(milliseconds(500));
  return {each_kib, cpu_percent, static_cast<double>(answered(clients))};
}

void watch_crowds(const TempFolder& folder) {
  std::vector<double> sizes;
  std::vector<double> shares;
  std::vector<double> woken;
  for (int i = 0; i < 3; ++i) {
    const auto crowd = watch_crowd(folder);
    sizes.push_back(crowd.each_kib);
    shares.push_back(crowd.cpu_percent);
    woken.push_back(crowd.woken);
    if (crowd.woken == 0) give_up("a release woke nobody");
  }
  print_row("memory of a waiting client", sizes, "KiB");
  print_row("processor while they sleep", shares, "%");
  bar_at_most("http.waiter_kib", median(sizes), 20);
  bar_at_most("http.waiters_cpu_percent", median(shares), 1);
  bar_at_most("http.woken_by_a_release", std::ranges::max(woken), 1);
}

void start_up(const TempFolder& folder) {
  std::vector<double> times;
  std::vector<double> sizes;
  for (int i = 0; i < repeats; ++i) {
    const auto at = fmt::format("127.0.0.1:{}", free_port());
    const auto store = "file:" + folder.make(fmt::format("start{}", i));
    const Started server({HOLDFAST_BINARY, "serve", "--store", store, "--listen", at},
                         folder.path() + "/start.log");
    times.push_back(static_cast<double>(wait_for(at).count()));
    std::this_thread::sleep_for(std::chrono::seconds(1));
    sizes.push_back(server.resident_mb());
  }
  print_row("start to ready", times, "ms");
  print_row("memory of an idle server", sizes, "MB");
  bar_at_most("http.start_ms", median(times), 100);
  bar_at_most("http.idle_rss_mb", median(sizes), 25);
}

void raise_descriptors() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace
}  // namespace holdfast::bench

int main() {
  using namespace holdfast::bench;
  raise_descriptors();
  const TempFolder folder;
  start_up(folder);
  compare_with_nginx(folder);
  watch_crowds(folder);
}
