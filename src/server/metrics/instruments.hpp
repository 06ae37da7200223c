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
#include <optional>
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

// How many times there were up to each bound, as plain numbers.
struct Counts {
  using Time = std::chrono::microseconds;
  // From a tenth of a millisecond to an hour.
  static constexpr std::array<Time, 22> bounds{
      Time(100),         Time(250),          Time(500),        Time(1'000),       Time(2'500),
      Time(5'000),       Time(10'000),       Time(25'000),     Time(50'000),      Time(100'000),
      Time(250'000),     Time(500'000),      Time(1'000'000),  Time(2'500'000),   Time(5'000'000),
      Time(10'000'000),  Time(30'000'000),   Time(60'000'000), Time(120'000'000), Time(300'000'000),
      Time(600'000'000), Time(3'600'000'000)};

  // Each only its own, not those below. They may go round: only differences are looked at then.
  std::array<std::uint32_t, bounds.size() + 1> buckets{};
  std::uint64_t sum_us = 0;

  void add(Time time) noexcept;
  std::uint64_t count() const noexcept;
  // What came after `before`.
  Counts since(const Counts& before) const noexcept;
  // The time that this part of them did not exceed, as if those of a bucket were spread evenly over
  // it; nothing if there are none. Beyond the last bound it is that bound.
  std::optional<double> quantile_ms(double part) const noexcept;
};

// The same for many threads.
class Histogram {
 public:
  using Time = Counts::Time;
  static constexpr auto bounds = Counts::bounds;

  void add(Time time) noexcept;
  std::uint64_t count() const noexcept { return count_.value(); }
  Counts counts() const noexcept;

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
