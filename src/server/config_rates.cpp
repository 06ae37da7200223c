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

// An entry as it is written.
struct Written {
  std::string path;
  std::string rate;
  std::string algorithm;
  std::uint32_t burst = 0;
  Per per = Per::token;
  WithoutStore without_store = WithoutStore::refuse;
};

Result<void> read_entry(std::string_view key, const ConfigValue& value, Written& out) {
  if (key == "path") return value.read_text(out.path);
  if (key == "rate") return value.read_text(out.rate);
  if (key == "algorithm") return value.read_text(out.algorithm);
  if (key == "burst") return value.read_count(out.burst, {1, max_rate_limit});
  if (key == "per") return value.read_choice<Per>(out.per, pers);
  if (key == "without_store") {
    return value.read_choice(out.without_store,
                             {{"refuse", WithoutStore::refuse}, {"allow", WithoutStore::allow}});
  }
  return value.refuse_key(key);
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
    Written entry;
    if (auto done = read_entries(element, entry, read_entry); !done) return done;
    if (entry.path.empty()) return element.refuse("needs path");
    if (entry.rate.empty()) return element.refuse("needs rate");
    const auto rule = rule_of(entry);
    if (!rule) return element.refuse(rule.error());
    limits.push_back({std::move(entry.path), *rule, entry.per, entry.without_store});
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
