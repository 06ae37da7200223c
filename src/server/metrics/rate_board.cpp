// SPDX-License-Identifier: Apache-2.0
#include "server/metrics/rate_board.hpp"

#include <fmt/format.h>

namespace holdfast::server {

namespace {

// What is counted together: docs/rate-limits.md.
std::string key_of(std::string_view scope, const RateRule& rule) {
  return fmt::format("{} {} {} {}", static_cast<int>(rule.algorithm), static_cast<int>(rule.layout),
                     rule.window.count(), scope);
}

}  // namespace

void RateBoard::checked(std::string_view scope, const RateRule& rule, const RateOutcome& outcome,
                        text::WallTime at) {
  auto key = key_of(scope, rule);
  const std::lock_guard lock(mutex_);
  const auto [found, is_new] = by_key_.try_emplace(std::move(key));
  if (is_new) {
    entries_.emplace_front().scope = scope;
    found->second = entries_.begin();
  } else {
    entries_.splice(entries_.begin(), entries_, found->second);
  }
  auto& mine = entries_.front();
  mine.rule = rule;
  mine.last = outcome;
  mine.last_at = at;
  ++(outcome.allowed ? mine.allowed : mine.denied);
  if (!outcome.allowed) mine.last_denied_at = at;
  if (entries_.size() <= limit_) return;
  by_key_.erase(key_of(entries_.back().scope, entries_.back().rule));
  entries_.pop_back();
}

void RateBoard::reset(std::string_view scope, const RateRule& rule) {
  const std::lock_guard lock(mutex_);
  const auto found = by_key_.find(key_of(scope, rule));
  if (found == by_key_.end()) return;
  found->second->last = {.allowed = true,
                         .limit = found->second->rule.capacity(),
                         .remaining = found->second->rule.capacity()};
}

std::vector<ShownRate> RateBoard::all() const {
  const std::lock_guard lock(mutex_);
  return {entries_.begin(), entries_.end()};
}

}  // namespace holdfast::server
