// SPDX-License-Identifier: Apache-2.0
//
// Counters and histograms that any thread may move without waiting for another, and their text in
// Prometheus' exposition format. Written here because Debian has prometheus-cpp only as a shared
// library, and the program takes its libraries from archives; `promtool check metrics` reads what
// we write in the tests.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::server {

class Counter {
 public:
  void add(std::uint64_t count = 1) noexcept { value_.fetch_add(count, std::memory_order_relaxed); }
  std::uint64_t value() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

// Times from a tenth of a millisecond to an hour.
class Histogram {
 public:
  using Time = std::chrono::microseconds;
  static constexpr std::array<Time, 14> bounds{
      Time(100),        Time(250),         Time(1'000),       Time(2'500),        Time(10'000),
      Time(25'000),     Time(100'000),     Time(250'000),     Time(1'000'000),    Time(5'000'000),
      Time(30'000'000), Time(120'000'000), Time(600'000'000), Time(3'600'000'000)};

  void add(Time time) noexcept;
  std::uint64_t count() const noexcept { return count_.value(); }

 private:
  friend class Exposition;
  std::array<Counter, bounds.size() + 1> buckets_;  // each only its own, not those below
  Counter count_;
  Counter sum_us_;
};

// Builds the text, one metric after the other.
class Exposition {
 public:
  // Begins a metric: its name without the prefix "holdfast_", its type and what it means.
  void begin(std::string_view name, std::string_view type, std::string_view help);
  // One sample of it; `labels` is empty or `kind="mutex",outcome="granted"`.
  void sample(std::string_view labels, double value);
  void sample(std::string_view labels, const Counter& counter);
  void sample(std::string_view labels, const Histogram& histogram);

  std::string text() && { return std::move(out_); }

 private:
  void line(std::string_view suffix, std::string_view labels, std::string_view value);

  std::string name_;
  std::string out_;
};

}  // namespace holdfast::server
