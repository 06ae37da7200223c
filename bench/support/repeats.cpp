// SPDX-License-Identifier: Apache-2.0
#include "support/repeats.hpp"

#include "support/bars.hpp"

#include <algorithm>
#include <array>

namespace holdfast::bench {

namespace {

class Collector final : public benchmark::BenchmarkReporter {
 public:
  explicit Collector(std::vector<Rates>& rates) : rates_(rates) {}

  bool ReportContext(const Context&) override { return true; }

  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.error_occurred) give_up(run.run_name.function_name + ": " + run.error_message);
      if (run.run_type != Run::RT_Iteration) continue;
      of(run.run_name.function_name).add(run.counters.at("items_per_second").value);
    }
  }

 private:
  Rates& of(const std::string& name) {
    const auto known = std::find_if(rates_.begin(), rates_.end(),
                                    [&](const Rates& rates) { return rates.name() == name; });
    return known != rates_.end() ? *known : rates_.emplace_back(name);
  }

  std::vector<Rates>& rates_;
};

}  // namespace

RepeatedRun RepeatedRun::of_all(int argc, char** argv) {
  std::array<std::string, 3> defaults{"--benchmark_repetitions=5", "--benchmark_min_time=0.2",
                                      "--benchmark_enable_random_interleaving=true"};
  std::vector<char*> arguments{argv[0]};
  for (std::string& option : defaults) arguments.push_back(option.data());
  arguments.insert(arguments.end(), argv + 1, argv + argc);
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) give_up("bad argument");

  RepeatedRun run;
  Collector collector(run.rates_);
  benchmark::RunSpecifiedBenchmarks(&collector);
  for (const Rates& rates : run.rates_) print_row(rates.name(), rates.repeats(), "pairs/s");
  return run;
}

double RepeatedRun::rate(const std::string& name) const {
  for (const Rates& rates : rates_) {
    if (rates.name() == name) return median(rates.repeats());
  }
  give_up("no benchmark is called " + name);
}

bool RepeatedRun::has(const std::string& name) const {
  return std::any_of(rates_.begin(), rates_.end(),
                     [&](const Rates& rates) { return rates.name() == name; });
}

}  // namespace holdfast::bench
