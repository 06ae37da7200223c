// SPDX-License-Identifier: Apache-2.0
#include "forrst/describe.hpp"

#include "forrst/duration.hpp"
#include "forrst/envelope.hpp"
#include "forrst/rules.hpp"
#include "forrst/urn.hpp"

#include <algorithm>
#include <array>

namespace holdfast::forrst {

namespace {

namespace json = boost::json;

json::array strings(const std::vector<std::string>& list) {
  json::array out;
  for (const auto& each : list) out.emplace_back(each);
  return out;
}

json::object extensions_json(const Function& function) {
  const auto urns = [](const std::vector<std::string>& names) {
    json::array out;
    for (const auto& name : names) out.emplace_back(urn_of(*extension_named(name)));
    return out;
  };
  if (!function.supported_extensions.empty()) {
    return {{"supported", urns(function.supported_extensions)}};
  }
  if (!function.excluded_extensions.empty()) {
    return {{"excluded", urns(function.excluded_extensions)}};
  }
  return {};
}

json::object version_json(const Registered& entry, bool has_schema) {
  const auto& function = entry.function;
  json::object out{{"version", function.version},
                   {"stability", to_string(entry.version.stability())},
                   {"description", function.description}};
  if (function.deprecated) {
    json::object deprecated{{"reason", function.deprecated->reason}};
    if (!function.deprecated->sunset.empty()) deprecated["sunset"] = function.deprecated->sunset;
    out["deprecated"] = std::move(deprecated);
  }
  if (has_schema) {
    json::object schema{{"arguments", to_schema(function)}};
    if (!function.returns.empty()) schema["returns"] = function.returns;
    out["schema"] = std::move(schema);
  }
  if (auto extensions = extensions_json(function); !extensions.empty()) {
    out["extensions"] = std::move(extensions);
  }
  return out;
}

// What any function may answer with.
json::array errors_json() {
  constexpr std::array standard{
      codes::parse_error,        codes::invalid_request,   codes::invalid_protocol_version,
      codes::function_not_found, codes::version_not_found, codes::invalid_arguments,
      codes::unauthorized,       codes::forbidden,         codes::internal_error,
      codes::unavailable,        codes::rate_limited};
  json::array out;
  for (const auto code : standard) {
    const auto row = row_of(code);
    out.push_back(json::object{
        {"code", code}, {"retryable", row.is_retryable}, {"http_status", row.http_status}});
  }
  return out;
}

json::object function_json(const std::string& name, const Registry::Versions& versions,
                           const DescribeOrder& order) {
  const auto* recommended = Registry::recommended(versions);
  const Function& newest =
      recommended != nullptr ? recommended->function : versions.front()->function;
  json::object out{{"function", name}, {"name", name}, {"description", newest.description}};
  out["side_effects"] = strings(newest.side_effects);
  json::array list;
  for (const auto& each : versions) {
    if (!order.version.empty() && each->function.version != order.version) continue;
    list.push_back(version_json(*each, order.has_schema));
  }
  out["versions"] = std::move(list);
  if (recommended != nullptr) out["recommended_version"] = recommended->function.version;
  return out;
}

json::object limits_json() {
  return {{"max_request_bytes", max_request_bytes},
          {"max_response_bytes", max_result_bytes},
          {"max_depth", max_request_depth},
          {"max_extensions", max_extensions},
          {"max_lock_ttl", to_json(max_lock_ttl)},
          {"default_deadline", to_json(default_function_timeout)}};
}

json::array rate_limits_json(const Registry& registry, const ServiceOptions& options) {
  const auto numbers = [](const RateRule& rule) {
    return json::object{
        {"limit", rule.limit},
        {"window", to_json(std::chrono::ceil<std::chrono::milliseconds>(rule.window))}};
  };
  json::array out;
  if (options.rate_limit) {
    auto entry = numbers(*options.rate_limit);
    entry["scope"] = "service";
    out.push_back(std::move(entry));
  }
  for (const auto& name : registry.names()) {
    const auto& newest = registry.versions_of(name)->front()->function;
    if (!newest.rate_limit) continue;
    auto entry = numbers(*newest.rate_limit);
    entry["scope"] = "function";
    entry["function"] = name;
    out.push_back(std::move(entry));
  }
  return out;
}

}  // namespace

std::expected<json::object, Fault> describe(const Registry& registry, const ServiceOptions& options,
                                            const DescribeOrder& order) {
  if (!order.function.empty()) {
    const auto version =
        order.version.empty() ? std::nullopt : std::optional<std::string>(order.version);
    const auto* versions = registry.versions_of(order.function);
    // A function without a stable version can be described all the same.
    if (versions == nullptr || version) {
      auto found = registry.find(order.function, version);
      if (!found) {
        found.error().pointer =
            version && versions != nullptr ? "/call/arguments/version" : "/call/arguments/function";
        return std::unexpected(std::move(found.error()));
      }
    }
    auto out = function_json(order.function, *versions, order);
    out["errors"] = errors_json();
    return out;
  }
  json::array functions;
  for (const auto& name : registry.names()) {
    functions.push_back(function_json(name, *registry.versions_of(name), order));
  }
  return json::object{{"forrst", protocol_version},
                      {"discovery", "0.1"},
                      {"info", json::object{{"title", options.name}, {"version", options.version}}},
                      {"functions", std::move(functions)},
                      {"components", json::object{{"errors", errors_json()}}}};
}

json::object capabilities_json(const Registry& registry, const ServiceOptions& options) {
  const json::array versions{protocol_version};
  json::array extensions;
  for (std::size_t each = 0; each < extension_count; ++each) {
    for (auto& urn : urns_of(static_cast<Extension>(each))) {
      extensions.push_back(json::object{{"urn", std::move(urn)}, {"version", "1.0.0"}});
    }
  }
  json::object out{{"service", options.name},
                   {"protocol_versions", versions},
                   {"protocolVersions", versions},
                   {"functions", strings(registry.names())},
                   {"extensions", std::move(extensions)},
                   {"limits", limits_json()}};
  if (auto limits = rate_limits_json(registry, options); !limits.empty()) {
    out["rate_limits"] = std::move(limits);
  }
  return out;
}

}  // namespace holdfast::forrst
