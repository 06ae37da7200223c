// SPDX-License-Identifier: Apache-2.0
#include "support/repeats.hpp"

#include "support/bars.hpp"

#include <algorithm>
#include <array>

namespace holdfast::bench {

class Collector final : public benchmark::BenchmarkReporter {
 public:
  explicit Collector(RepeatedRun& run) : rates_(run.rates_) {}

  bool ReportContext(const Context&) override { return true; }

  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.error_occurred) give_up(run.run_name.function_name + ": " + run.error_message);
      if (run.run_type != Run::RT_Iteration) continue;
      auto& rates = of(run.run_name.function_name);
      const auto pairs = static_cast<double>(run.iterations);
      rates.per_second.push_back(pairs / run.real_accumulated_time);
      // With several threads each of them has counted the time of all.
      if (run.threads == 1) rates.per_cpu_second.push_back(pairs / run.cpu_accumulated_time);
    }
  }

 private:
  RepeatedRun::Rates& of(const std::string& name) {
    const auto known = std::find_if(rates_.begin(), rates_.end(),
                                    [&](const auto& rates) { return rates.name == name; });
    if (known != rates_.end()) return *known;
    return rates_.emplace_back(RepeatedRun::Rates{name, {}, {}});
  }

  std::vector<RepeatedRun::Rates>& rates_;
};

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
  Collector collector(run);
  benchmark::RunSpecifiedBenchmarks(&collector);
  std::sort(run.rates_.begin(), run.rates_.end(),
            [](const Rates& a, const Rates& b) { return a.name < b.name; });
  for (const Rates& rates : run.rates_) {
    const auto& by_cpu = rates.per_cpu_second;
    print_row(rates.name, rates.per_second, "pairs/s",
              by_cpu.empty() ? "" : readable(median(by_cpu)) + " per CPU second");
  }
  return run;
}

const RepeatedRun::Rates& RepeatedRun::find(const std::string& name) const {
  for (const Rates& rates : rates_) {
    if (rates.name == name) return rates;
  }
  give_up("no benchmark is called " + name);
}

double RepeatedRun::per_second(const std::string& name) const {
  return median(find(name).per_second);
}

double RepeatedRun::per_cpu_second(const std::string& name) const {
  return median(find(name).per_cpu_second);
}

bool RepeatedRun::is_partial() const {
  const std::string filter = benchmark::GetBenchmarkFilter();
  return !filter.empty() && filter != "." && filter != "all";
}

}  // namespace holdfast::bench
