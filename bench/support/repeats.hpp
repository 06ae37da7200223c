// SPDX-License-Identifier: Apache-2.0
//
// Google Benchmark with repeats in random order, so that a noisy minute of the machine hits every
// contestant alike, and with our own output.
#pragma once

#include <benchmark/benchmark.h>

#include <string>
#include <utility>
#include <vector>

namespace holdfast::bench {

// Registers `body(state, arguments...)`; one iteration is one pair.
template <typename... Arguments>
benchmark::internal::Benchmark* add(const char* name, Arguments&&... arguments) {
  return benchmark::RegisterBenchmark(name, std::forward<Arguments>(arguments)...)
      ->MeasureProcessCPUTime()
      ->UseRealTime();
}

class RepeatedRun {
 public:
  // Runs everything that was added and prints one row for each. The command line may override the
  // defaults, for instance with --benchmark_filter.
  static RepeatedRun of_all(int argc, char** argv);

  // Medians; each ends the program if there is no such benchmark.
  double per_second(const std::string& name) const;
  // Per second of the processor time of all threads of this process. For contestants that never
  // sleep this is the same on a quiet machine, and keeps the neighbours' work out on a busy one.
  double per_cpu_second(const std::string& name) const;

  // Some were left out by a filter, so the bars cannot be told.
  bool is_partial() const;

 private:
  friend class Collector;
  struct Rates {
    std::string name;
    std::vector<double> per_second;
    std::vector<double> per_cpu_second;
  };
  const Rates& find(const std::string& name) const;

  std::vector<Rates> rates_;
};

}  // namespace holdfast::bench
