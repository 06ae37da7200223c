// SPDX-License-Identifier: Apache-2.0
//
// `holdfast guard` beside nginx's proxy_pass, both with kept connections to the same upstream and
// under the same wrk: the time of a request when there is one at a time, and the rate of 32
// clients. Every request carries a fence; the guard asks a durable store about each.
#include "support/bars.hpp"
#include "support/peers.hpp"
#include "support/redis_server.hpp"
#include "support/started.hpp"
#include "support/temp_folder.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <memory>
#include <regex>

namespace holdfast::bench {
namespace {

using test::free_port;

// One request at a time, three programs on two cores: where the system puts them decides more than
// they do, so there are many short runs.
constexpr int repeats = 9;
constexpr int seconds_alone = 1;
constexpr int seconds_together = 2;
constexpr int clients = 32;

// A holder that writes to one resource, and a thousand of them that write to one each. wrk's own
// request is made once, so that it can keep up.
constexpr auto one_resource = R"(
wrk.method = "POST"
wrk.path = "/orders/42"
wrk.body = '{"state":"paid"}'
wrk.headers["Content-Type"] = "application/json"
wrk.headers["Holdfast-Fence"] = "1794824118754014"
)";
constexpr auto many_resources = R"(
wrk.method = "POST"
wrk.body = '{"state":"paid"}'
wrk.headers["Content-Type"] = "application/json"
wrk.headers["Holdfast-Fence"] = "1794824118754014"
local requests, count = {}, 0
function init()
  for i = 0, 999 do requests[i] = wrk.format(nil, "/orders/" .. i) end
end
function request()
  count = (count + 1) % 1000
  return requests[count]
end
)";

constexpr auto nginx_config = R"(
daemon off;
worker_processes 1;
pid {0}/{1}.pid;
error_log {0}/{1}.log;
events {{ worker_connections 4096; }}
http {{
  access_log off;
  keepalive_requests 100000000;
  client_body_temp_path {0}/body; proxy_temp_path {0}/proxy; fastcgi_temp_path {0}/fastcgi;
  uwsgi_temp_path {0}/uwsgi; scgi_temp_path {0}/scgi;
  {2}
}}
)";

constexpr auto upstream_config = R"(
  server {{
    listen 127.0.0.1:{};
    default_type application/json;
    location / {{ return 200 '{{"id":42,"state":"paid","total":"19.90","currency":"EUR"}}'; }}
  }})";

constexpr auto proxy_config = R"(
  upstream behind {{ server {0}; keepalive 128; keepalive_requests 100000000; }}
  server {{
    listen 127.0.0.1:{1};
    location / {{
      proxy_pass http://behind;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $host;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
      proxy_set_header X-Forwarded-Proto $scheme;
    }}
  }})";

std::vector<std::string> nginx(const TempFolder& folder, std::string_view name,
                               std::string_view servers) {
  const auto config = write_file(folder, fmt::format("{}.conf", name),
                                 fmt::format(nginx_config, folder.path(), name, servers));
  return {"nginx", "-c", config, "-e", fmt::format("{}/{}.log", folder.path(), name)};
}

struct Measured {
  double requests_per_s = 0;
  double p50_us = 0;
};

Measured run_wrk(const std::string& address, const std::string& script, int connections) {
  const auto line =
      fmt::format("wrk -t1 -c{} -d{}s --latency -s {} http://{} 2>&1", connections,
                  connections == 1 ? seconds_alone : seconds_together, script, address);
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(line.c_str(), "r"), pclose);
  std::string out;
  std::array<char, 4096> piece{};
  while (const auto got = fread(piece.data(), 1, piece.size(), pipe.get())) {
    out.append(piece.data(), got);
  }
  std::smatch rate;
  std::smatch middle;
  if (!std::regex_search(out, rate, std::regex(R"(Requests/sec:\s+([0-9.]+))")) ||
      !std::regex_search(out, middle, std::regex(R"(50%\s+([0-9.]+)(us|ms|s))"))) {
    give_up("wrk said something else: " + out);
  }
  if (out.contains("Non-2xx") || out.contains("Socket errors")) give_up("wrk was refused: " + out);
  const double scale = middle[2] == "us" ? 1 : middle[2] == "ms" ? 1e3 : 1e6;
  return {std::stod(rate[1]), std::stod(middle[1]) * scale};
}

struct Ratios {
  std::vector<double> p50;
  std::vector<double> rate;
};

Ratios compare(const std::string& what, const std::string& nginx_at, const std::string& ours_at,
               const std::string& script) {
  std::vector<double> times, their_times, rates, their_rates;
  Ratios ratios;
  run_wrk(ours_at, script, clients);  // once for each resource the store has to write
  for (int i = 0; i < repeats; ++i) {
    their_times.push_back(run_wrk(nginx_at, script, 1).p50_us);
    times.push_back(run_wrk(ours_at, script, 1).p50_us);
    their_rates.push_back(run_wrk(nginx_at, script, clients).requests_per_s);
    rates.push_back(run_wrk(ours_at, script, clients).requests_per_s);
    ratios.p50.push_back(times.back() / their_times.back());
    ratios.rate.push_back(rates.back() / their_rates.back());
  }
  fmt::print("{}\n", what);
  print_row("  nginx, p50 of one client", their_times, "us");
  print_row("  guard, p50 of one client", times, "us");
  print_row("  nginx, 32 clients", their_rates, "requests/s");
  print_row("  guard, 32 clients", rates, "requests/s");
  print_row("  p50 by p50", ratios.p50, "");
  print_row("  rate by rate", ratios.rate, "");
  return ratios;
}

void run() {
  const TempFolder folder;
  const auto upstream_at = fmt::format("127.0.0.1:{}", free_port());
  const auto nginx_at = fmt::format("127.0.0.1:{}", free_port());
  const auto ours_at = fmt::format("127.0.0.1:{}", free_port());
  const auto port_of = [](const std::string& at) { return at.substr(at.find(':') + 1); };
  const Started upstream(
      nginx(folder, "upstream", fmt::format(upstream_config, port_of(upstream_at))));
  const Started proxy(
      nginx(folder, "proxy", fmt::format(proxy_config, upstream_at, port_of(nginx_at))));
  const Started ours({HOLDFAST_BINARY, "guard", "--upstream", "http://" + upstream_at, "--listen",
                      ours_at, "--store", "file:" + folder.make("store") + "?durable=yes"},
                     folder.path() + "/guard.log");
  for (const auto& each : {upstream_at, nginx_at, ours_at}) wait_for(each);
  const auto one =
      compare("one resource", nginx_at, ours_at, write_file(folder, "one.lua", one_resource));
  const auto many = compare("a thousand resources", nginx_at, ours_at,
                            write_file(folder, "many.lua", many_resources));
  bar_at_most("recipes.guard_p50_vs_nginx", std::max(median(one.p50), median(many.p50)), 1.3);
  bar_at_least("recipes.guard_rate_vs_nginx", std::min(median(one.rate), median(many.rate)), 0.7);
}

}  // namespace
}  // namespace holdfast::bench

int main() { holdfast::bench::run(); }
