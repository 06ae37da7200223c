// SPDX-License-Identifier: Apache-2.0
#include "server/metrics/instruments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace holdfast::server {

void Histogram::add(Time time) noexcept {
  const auto at = static_cast<std::size_t>(std::ranges::lower_bound(bounds, time) - bounds.begin());
  buckets_[at].add();
  count_.add();
  sum_us_.add(static_cast<std::uint64_t>(std::max<Time::rep>(0, time.count())));
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
