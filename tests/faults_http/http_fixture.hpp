// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "faults_redis/faults_fixture.hpp"
#include "served.hpp"
#include "support/http_proxy.hpp"
#include "support/temporary_folder.hpp"

namespace holdfast::faults {

using test::HttpProxy;

// A server of its own with a proxy in front, and a history that is checked when the test ends.
class HttpFaultsTest : public testing::Test {
 protected:
  explicit HttpFaultsTest(std::vector<std::string> names = mixed_names()) : log(std::move(names)) {}
  void TearDown() override;

  Client must_open();
  std::unique_ptr<Load> start_load(LoadPlan plan = {});
  // A calm time in which everybody must be served, then the end.
  Load::Totals end_load(Load& load, std::uint64_t least_grants);
  // The load works, and goes on working.
  static void expect_grants(const Load& load, std::uint64_t more);

  // The server does nothing for so long; whatever is asked meanwhile is answered then.
  void stall(Micros time);
  // Whatever is done meanwhile may be late or lost.
  template <typename Do>
  void in_trouble(Do what) {
    const Time begin = log.now();
    what();
    log.fault(What::unreachable, 0, begin, log.now());
  }
  // What is left in the store although it had time to vanish; "" if nothing.
  std::string left_behind();

  test::TemporaryFolder folder;
  SharedLog log;
  Served server{"file:" + (folder.path() / "locks").string()};
  HttpProxy proxy{server.port()};
  const std::uint64_t seed = choose_seed();
  Dice dice{seed};

 private:
  std::optional<StallWatch> stalls_;
};

}  // namespace holdfast::faults
