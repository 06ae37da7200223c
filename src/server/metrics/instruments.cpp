// SPDX-License-Identifier: Apache-2.0
#include "server/metrics/instruments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace holdfast::server {

namespace {

std::size_t bucket_of(Counts::Time time) noexcept {
  return static_cast<std::size_t>(std::ranges::lower_bound(Counts::bounds, time) -
                                  Counts::bounds.begin());
}

std::uint64_t in_us(Counts::Time time) noexcept {
  return static_cast<std::uint64_t>(std::max<Counts::Time::rep>(0, time.count()));
}

}  // namespace

void Counts::add(Time time) noexcept {
  ++buckets[bucket_of(time)];
  sum_us += in_us(time);
}

std::uint64_t Counts::count() const noexcept {
  std::uint64_t all = 0;
  for (const auto each : buckets) all += each;
  return all;
}

Counts Counts::since(const Counts& before) const noexcept {
  Counts difference = *this;
  for (std::size_t at = 0; at < buckets.size(); ++at) difference.buckets[at] -= before.buckets[at];
  difference.sum_us -= before.sum_us;
  return difference;
}

std::optional<double> Counts::quantile_ms(double part) const noexcept {
  const auto all = static_cast<double>(count());
  if (all == 0) return std::nullopt;
  const auto in_ms = [](Time time) { return static_cast<double>(time.count()) / 1000; };
  double below = 0;
  for (std::size_t at = 0; at < bounds.size(); ++at) {
    const double here = buckets[at];
    if (here > 0 && below + here >= part * all) {
      const double begin = at == 0 ? 0 : in_ms(bounds[at - 1]);
      return begin + (in_ms(bounds[at]) - begin) * (part * all - below) / here;
    }
    below += here;
  }
  return in_ms(bounds.back());
}

void Histogram::add(Time time) noexcept {
  buckets_[bucket_of(time)].add();
  count_.add();
  sum_us_.add(in_us(time));
}

Counts Histogram::counts() const noexcept {
  Counts now;
  for (std::size_t at = 0; at < buckets_.size(); ++at) {
    now.buckets[at] = static_cast<std::uint32_t>(buckets_[at].value());
  }
  now.sum_us = sum_us_.value();
  return now;
}

void Exposition::begin(std::string_view name, std::string_view type, std::string_view help) {
  name_ = fmt::format("holdfast_{}", name);
  fmt::format_to(std::back_inserter(out_), "# HELP {} {}\n# TYPE {} {}\n", name_, help, name_,
                 type);
}

void Exposition::line(std::string_view suffix, std::string_view labels, std::string_view value) {
  if (labels.empty()) {
    fmt::format_to(std::back_inserter(out_), "{}{} {}\n", name_, suffix, value);
  } else {
    fmt::format_to(std::back_inserter(out_), "{}{}{{{}}} {}\n", name_, suffix, labels, value);
  }
}

void Exposition::sample(std::string_view labels, double value) {
  line("", labels, fmt::format("{}", value));
}

void Exposition::sample(std::string_view labels, const Counter& counter) {
  line("", labels, fmt::format("{}", counter.value()));
}

void Exposition::sample(std::string_view labels, const Histogram& histogram) {
  const auto comma = labels.empty() ? "" : ",";
  std::uint64_t below = 0;
  for (std::size_t at = 0; at < Histogram::bounds.size(); ++at) {
    below += histogram.buckets_[at].value();
    const double bound = std::chrono::duration<double>(Histogram::bounds[at]).count();
    line("_bucket", fmt::format("{}{}le=\"{}\"", labels, comma, bound), fmt::format("{}", below));
  }
  below += histogram.buckets_.back().value();
  line("_bucket", fmt::format("{}{}le=\"+Inf\"", labels, comma), fmt::format("{}", below));
  line("_sum", labels, fmt::format("{}", static_cast<double>(histogram.sum_us_.value()) / 1e6));
  line("_count", labels, fmt::format("{}", below));
}

}  // namespace holdfast::server
