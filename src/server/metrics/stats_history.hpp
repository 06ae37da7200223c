// SPDX-License-Identifier: Apache-2.0
//
// How it went during the last hour: one sample a second in a ring.
#pragma once

#include "runtime/runtime.hpp"
#include "server/metrics/instruments.hpp"
#include "text/wall_time.hpp"

#include <boost/json/fwd.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

namespace holdfast::server {

inline constexpr std::chrono::seconds sample_interval{1};
inline constexpr std::size_t max_samples = 3'601;  // both ends of an hour

// Counters are those since the server began: what happened between two samples is their difference.
struct Sample {
  text::WallTime at{};
  std::optional<std::uint64_t> held{};     // nothing: not known
  std::optional<std::uint64_t> waiters{};  // the same
  std::uint64_t acquired = 0;
  std::uint64_t refused = 0;
  std::uint64_t lost = 0;
  std::uint64_t expired = 0;
  std::uint64_t store_failures = 0;
  Counts waits{};
  Counts store{};
};

// What is asked for, and in how many steps it is shown.
struct HistorySpan {
  std::string_view word;    // "15m"
  std::size_t step = 1;     // in samples
  std::size_t points = 60;  // steps
};

// Null for a word that is none of them.
const HistorySpan* find_span(std::string_view word);
inline constexpr std::string_view span_words = "1m, 15m or 1h";

class StatsHistory : public std::enable_shared_from_this<StatsHistory> {
 public:
  // Reads a sample every second until it is stopped; once `stop` has returned, `read` is not called
  // any more.
  void start(std::shared_ptr<runtime::Runtime> runtime, std::function<Sample()> read);
  void stop();

  void add(const Sample& sample);
  // Columns, as docs/json.md has them. There are fewer points while the server is young.
  boost::json::object columns(const HistorySpan& span) const;

 private:
  void tick();
  void arm();                       // with mutex_ held
  void keep(const Sample& sample);  // the same
  std::vector<Sample> newest(const HistorySpan& span) const;

  mutable std::mutex mutex_;  // what follows
  std::shared_ptr<runtime::Runtime> runtime_;
  std::function<Sample()> read_;  // null: stopped
  runtime::TimerId timer_{};
  std::vector<Sample> ring_;
  std::size_t oldest_ = 0;
};

}  // namespace holdfast::server
