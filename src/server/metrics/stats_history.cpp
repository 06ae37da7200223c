// SPDX-License-Identifier: Apache-2.0
#include "server/metrics/stats_history.hpp"

#include <boost/json/array.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace holdfast::server {

namespace json = boost::json;

namespace {

constexpr std::array spans{
    HistorySpan{"1m", 1, 60},
    HistorySpan{"15m", 10, 90},
    HistorySpan{"1h", 30, 120},
};

template <typename T>
json::value value_or_null(const std::optional<T>& value) {
  return value ? json::value(*value) : json::value(nullptr);
}

// Three digits behind the point say all that a bucket can.
json::value rounded(const std::optional<double>& ms) {
  return ms ? json::value(std::round(*ms * 1000) / 1000) : json::value(nullptr);
}

double per_second(std::uint64_t count, std::chrono::microseconds time) {
  const auto seconds = std::chrono::duration<double>(time).count();
  return seconds > 0 ? std::round(static_cast<double>(count) / seconds * 10) / 10 : 0;
}

// The columns of an answer, filled step by step.
class Columns {
 public:
  void add(const Sample& before, const Sample& after) {
    const auto elapsed = after.at - before.at;
    const auto waits = after.waits.since(before.waits);
    at_.emplace_back(text::format_time(after.at));
    held_.push_back(value_or_null(after.held));
    waiters_.push_back(value_or_null(after.waiters));
    acquired_.emplace_back(per_second(after.acquired - before.acquired, elapsed));
    refused_.emplace_back(per_second(after.refused - before.refused, elapsed));
    p50_.push_back(rounded(waits.quantile_ms(0.5)));
    p99_.push_back(rounded(waits.quantile_ms(0.99)));
    lost_.emplace_back(after.lost - before.lost);
    expired_.emplace_back(after.expired - before.expired);
    store_p99_.push_back(rounded(after.store.since(before.store).quantile_ms(0.99)));
    store_failures_.emplace_back(after.store_failures - before.store_failures);
  }

  json::object object(const HistorySpan& span) && {
    const auto step = std::chrono::milliseconds(sample_interval).count();
    return {{"span", span.word},
            {"step_ms", static_cast<std::int64_t>(span.step) * step},
            {"at", std::move(at_)},
            {"held", std::move(held_)},
            {"waiters", std::move(waiters_)},
            {"acquired_per_s", std::move(acquired_)},
            {"refused_per_s", std::move(refused_)},
            {"wait_p50_ms", std::move(p50_)},
            {"wait_p99_ms", std::move(p99_)},
            {"lost", std::move(lost_)},
            {"expired", std::move(expired_)},
            {"store_p99_ms", std::move(store_p99_)},
            {"store_failures", std::move(store_failures_)}};
  }

 private:
  json::array at_, held_, waiters_, acquired_, refused_, p50_, p99_, lost_, expired_, store_p99_,
      store_failures_;
};

}  // namespace

const HistorySpan* find_span(std::string_view word) {
  const auto* found = std::ranges::find(spans, word, &HistorySpan::word);
  return found != spans.end() ? found : nullptr;
}

void StatsHistory::start(std::shared_ptr<runtime::Runtime> runtime, std::function<Sample()> read) {
  const std::lock_guard lock(mutex_);
  runtime_ = std::move(runtime);
  read_ = std::move(read);
  arm();
}

void StatsHistory::stop() {
  const std::lock_guard lock(mutex_);
  read_ = nullptr;
  if (runtime_) runtime_->cancel(timer_);
}

void StatsHistory::arm() {
  timer_ = runtime_->schedule(runtime_->now() + sample_interval, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->tick();
  });
}

// Under the mutex, since whoever stops us takes away what is read.
void StatsHistory::tick() {
  const std::lock_guard lock(mutex_);
  if (!read_) return;
  keep(read_());
  arm();
}

void StatsHistory::keep(const Sample& sample) {
  if (ring_.size() < max_samples) {
    ring_.push_back(sample);
    return;
  }
  ring_[oldest_] = sample;
  oldest_ = (oldest_ + 1) % max_samples;
}

void StatsHistory::add(const Sample& sample) {
  const std::lock_guard lock(mutex_);
  keep(sample);
}

// One more than there are steps: a step is what lies between two samples.
std::vector<Sample> StatsHistory::newest(const HistorySpan& span) const {
  const std::lock_guard lock(mutex_);
  std::vector<Sample> samples;
  for (std::size_t at = 0; at <= span.points; ++at) {
    const auto back = at * span.step;
    if (back >= ring_.size()) break;
    samples.push_back(ring_[(oldest_ + ring_.size() - 1 - back) % ring_.size()]);
  }
  std::ranges::reverse(samples);
  return samples;
}

json::object StatsHistory::columns(const HistorySpan& span) const {
  const auto samples = newest(span);
  Columns columns;
  for (std::size_t at = 1; at < samples.size(); ++at) columns.add(samples[at - 1], samples[at]);
  return std::move(columns).object(span);
}

}  // namespace holdfast::server
