// SPDX-License-Identifier: Apache-2.0
//
// What a call under a lock costs over Forrst: one request that takes the lock, runs a function that
// does nothing, and gives the lock back, beside an acquire and a release of /v1, which are two.
#include "support/bars.hpp"
#include "support/http_client.hpp"
#include "support/http_load.hpp"
#include "support/peers.hpp"
#include "support/redis_server.hpp"
#include "support/started.hpp"
#include "support/temp_folder.hpp"

#include <fmt/format.h>

namespace holdfast::bench {
namespace {

using Samples = std::vector<double>;

constexpr int repeats = 5;
constexpr std::size_t connections = 50;

std::string post(const std::string& address, std::string path, std::string body) {
  return test::request_text({.method = "POST", .path = std::move(path), .body = std::move(body)},
                            address);
}

HttpLoad pairs_of_v1(const std::string& address) {
  return {.address = address,
          .connections = connections,
          .round =
              [address](std::size_t number) {
                const auto lock = fmt::format("/v1/locks/bench-{}", number);
                return std::vector{
                    post(address, lock + "/acquire", R"({"owner":"bench","ttl":"30s"})"),
                    post(address, lock + "/release", R"({"owner":"bench"})")};
              },
          .must_contain = {"\"fence\"", ""}};
}

HttpLoad calls_of_forrst(const std::string& address) {
  static constexpr auto body =
      R"({{"protocol":{{"name":"forrst","version":"0.1.0"}},"id":"bench-{0}","call":{{)"
      R"("function":"urn:cline:forrst:ext:diagnostics:fn:ping","version":"1.0.0",)"
      R"("arguments":{{}}}},"extensions":[{{"urn":"urn:forrst:ext:atomicLock","options":{{)"
      R"("key":"bench-{0}","ttl":{{"value":30,"unit":"second"}}}}}}]}})";
  return {.address = address,
          .connections = connections,
          .round =
              [address](std::size_t number) {
                return std::vector{post(address, "/forrst", fmt::format(body, number))};
              },
          .must_contain = {"\"acquired\":true"}};
}

struct Runs {
  Samples per_s;
  Samples p99_us;
  void add(const HttpLoaded& loaded) {
    per_s.push_back(loaded.rounds_per_s);
    p99_us.push_back(loaded.p99_us);
  }
};

Samples ratios(const Samples& ours, const Samples& floor) {
  Samples out;
  for (std::size_t i = 0; i < ours.size(); ++i) out.push_back(ours[i] / floor[i]);
  return out;
}

void compare() {
  const TempFolder folder;
  const auto address = fmt::format("127.0.0.1:{}", test::free_port());
  const Started server({HOLDFAST_BINARY, "serve", "--store", "memory:", "--listen", address},
                       folder.path() + "/serve.log");
  wait_for(address);
  Runs v1;
  Runs forrst;
  for (int i = 0; i < repeats; ++i) {
    v1.add(run_http_load(pairs_of_v1(address)));
    forrst.add(run_http_load(calls_of_forrst(address)));
  }
  print_row("/v1 acquire and release", v1.per_s, "pairs/s");
  print_row("/v1 p99 of a pair", v1.p99_us, "us");
  print_row("/forrst ping under a lock", forrst.per_s, "calls/s");
  print_row("/forrst p99 of a call", forrst.p99_us, "us");
  bar_at_least("forrst.forrst_vs_v1", median(ratios(forrst.per_s, v1.per_s)), 0.5);
  bar_at_most("forrst.forrst_p99_vs_v1", median(ratios(forrst.p99_us, v1.p99_us)), 3);
}

}  // namespace
}  // namespace holdfast::bench

int main() { holdfast::bench::compare(); }
