// SPDX-License-Identifier: Apache-2.0
#include "server/config_rates.hpp"

#include "model/rate_limit.hpp"
#include "server/endpoints/routes.hpp"
#include "text/quote.hpp"
#include "text/rate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace holdfast::server {
namespace {

using Per = EndpointLimit::Per;
using WithoutStore = EndpointLimit::WithoutStore;

constexpr std::array<std::pair<std::string_view, Per>, 3> pers{
    {{"token", Per::token}, {"address", Per::address}, {"all", Per::all}}};
constexpr std::array<std::pair<std::string_view, WithoutStore>, 2> without_stores{
    {{"refuse", WithoutStore::refuse}, {"allow", WithoutStore::allow}}};

// An entry as it is written.
struct Written {
  std::string path;
  std::string rate;
  std::string algorithm;
  std::uint32_t burst = 0;
  Per per = Per::token;
  WithoutStore without_store = WithoutStore::refuse;
};

Result<Written> read_entry(const ConfigValue& value) {
  Written entry;
  const auto text = [](std::string& out) {
    return [&out](const ConfigValue& field) { return field.read_text(out); };
  };
  auto read = value.read_map({
      {"path", text(entry.path)},
      {"rate", text(entry.rate)},
      {"algorithm", text(entry.algorithm)},
      {"burst",
       [&](const ConfigValue& field) {
         return field.read_count(entry.burst, {1, max_rate_limit});
       }},
      {"per", [&](const ConfigValue& field) { return field.read_choice<Per>(entry.per, pers); }},
      {"without_store",
       [&](const ConfigValue& field) {
         return field.read_choice<WithoutStore>(entry.without_store, without_stores);
       }},
  });
  if (!read) return std::unexpected(std::move(read.error()));
  return entry;
}

Result<RateRule> rule_of(const Written& entry) {
  const auto rate = text::parse_rate(entry.rate);
  if (!rate) return std::unexpected(rate.error());
  return text::make_rule(*rate, {.algorithm = entry.algorithm, .burst = entry.burst});
}

Result<void> check_path(std::string_view path) {
  if (is_never_limited(path)) {
    return fail(Errc::bad_input, fmt::format("path {} is never limited", text::quoted(path)));
  }
  const auto& routes = all_routes().routes();
  const bool is_there = std::ranges::any_of(
      routes, [path](const Route& route) { return covers(path, route.pattern); });
  if (is_there) return {};
  return fail(Errc::bad_input,
              fmt::format("path {} has no endpoint; write it as /openapi.json does, such as "
                          "/v1/locks/{{name}}/acquire, or /v1/locks/* for all below",
                          text::quoted(path)));
}

// Both would count every request, in one place.
bool counts_the_same(const EndpointLimit& one, const EndpointLimit& other) {
  return one.path == other.path && one.per == other.per &&
         one.rule.algorithm == other.rule.algorithm && one.rule.window == other.rule.window;
}

}  // namespace

std::string_view to_string(Per per) { return pers[static_cast<std::size_t>(per)].first; }

bool covers(std::string_view path, std::string_view pattern) {
  if (!path.ends_with("/*")) return path == pattern;
  return pattern.starts_with(path.substr(0, path.size() - 1));
}

bool is_never_limited(std::string_view pattern) {
  return pattern == "/health" || pattern == "/metrics";
}

Result<void> read_rate_limits(const ConfigValue& value, std::vector<EndpointLimit>& out) {
  std::vector<EndpointLimit> limits;
  auto read = value.each_element([&](const ConfigValue& element) -> Result<void> {
    auto entry = read_entry(element);
    if (!entry) return std::unexpected(std::move(entry.error()));
    if (entry->path.empty()) return element.refuse("needs path");
    if (entry->rate.empty()) return element.refuse("needs rate");
    const auto rule = rule_of(*entry);
    if (!rule) return element.refuse(rule.error());
    limits.push_back({std::move(entry->path), *rule, entry->per, entry->without_store});
    if (limits.size() > max_endpoint_limits) {
      return value.refuse(fmt::format("must have at most {} entries", max_endpoint_limits));
    }
    if (auto checked = check_rate_limits(limits); !checked) return element.refuse(checked.error());
    return {};
  });
  if (read) out = std::move(limits);
  return read;
}

Result<void> check_rate_limits(const std::vector<EndpointLimit>& limits) {
  for (auto each = limits.begin(); each != limits.end(); ++each) {
    if (auto checked = check_path(each->path); !checked) return checked;
    if (auto good = model::admissible(model::RateCommand{.rule = each->rule}); !good) return good;
    const auto same = std::find_if(limits.begin(), each, [each](const EndpointLimit& before) {
      return counts_the_same(before, *each);
    });
    if (same == each) continue;
    return fail(Errc::bad_input,
                fmt::format("path {} has two limits per {} with the same window; keep the "
                            "smaller one",
                            text::quoted(each->path), to_string(each->per)));
  }
  return {};
}

}  // namespace holdfast::server
