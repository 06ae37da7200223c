// SPDX-License-Identifier: Apache-2.0
//
// Google Benchmark with repeats in random order, so that a noisy minute of the machine hits every
// contestant alike, and with our own output.
#pragma once

#include <benchmark/benchmark.h>

#include <string>
#include <vector>

namespace holdfast::bench {

// Pairs per second of every repeat of one benchmark.
class Rates {
 public:
  explicit Rates(std::string name) : name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  void add(double rate) { repeats_.push_back(rate); }
  const std::vector<double>& repeats() const { return repeats_; }

 private:
  std::string name_;
  std::vector<double> repeats_;
};

class RepeatedRun {
 public:
  // Runs everything that was registered and prints one row for each. Each benchmark must have set
  // its items processed to the number of pairs. The command line may override the defaults, for
  // instance with --benchmark_filter.
  static RepeatedRun of_all(int argc, char** argv);

  // The median rate; ends the program if there is no such benchmark.
  double rate(const std::string& name) const;
  bool has(const std::string& name) const;

 private:
  std::vector<Rates> rates_;
};

}  // namespace holdfast::bench
