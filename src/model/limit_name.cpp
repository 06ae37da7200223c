// SPDX-License-Identifier: Apache-2.0
#include "model/limit_name.hpp"

#include "model/rate_limit.hpp"

#include <fmt/format.h>

#include <string>

namespace holdfast::model {

namespace {

std::string_view word_of(RateAlgorithm algorithm) {
  switch (algorithm) {
    case RateAlgorithm::fixed_window: return "fixed";
    case RateAlgorithm::sliding_window: return "sliding";
    case RateAlgorithm::token_bucket: return "bucket";
  }
  return "";
}

// What other programs' keys begin with.
std::string_view before_scope(RateLayout layout) {
  switch (layout) {
    case RateLayout::n8n: return "n8n-ratelimit-";
    case RateLayout::redisx: return "rl:fixed-window:";
    case RateLayout::native: break;
  }
  return "";
}

std::string after_scope(const RateRule& rule) {
  const bool is_ours = rule.layout == RateLayout::native;
  return fmt::format(":{}:{}us", is_ours ? word_of(rule.algorithm) : to_string(rule.layout),
                     rule.window.count());
}

}  // namespace

Result<LockName> limit_name(std::string_view scope, const RateRule& rule) {
  if (scope.empty() || scope.size() > max_scope_bytes) {
    return fail(Errc::bad_input, fmt::format("scope: must have 1 to {} bytes; got {}",
                                             max_scope_bytes, scope.size()));
  }
  auto name =
      LockName::make(fmt::format("{}{}{}", before_scope(rule.layout), scope, after_scope(rule)));
  if (name) return name;
  return fail(Errc::bad_input, "scope: " + name.error().message);
}

std::optional<std::string_view> counted_under(const LockName& name, const RateRule& rule) {
  const std::string_view whole = name.str();
  const auto before = before_scope(rule.layout);
  const auto after = after_scope(rule);
  const auto around = before.size() + after.size();
  if (whole.size() <= around || whole.size() - around > max_scope_bytes) return std::nullopt;
  if (!whole.starts_with(before) || !whole.ends_with(after)) return std::nullopt;
  return whole.substr(0, whole.size() - after.size());
}

}  // namespace holdfast::model
