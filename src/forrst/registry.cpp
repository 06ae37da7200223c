// SPDX-License-Identifier: Apache-2.0
#include "forrst/registry.hpp"

#include "forrst/rules.hpp"
#include "forrst/urn.hpp"
#include "model/rate_limit.hpp"
#include "text/quote.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace holdfast::forrst {

namespace {

std::unexpected<Error> refuse(const Function& function, std::string_view rule) {
  return fail(Errc::bad_input, fmt::format("function {}: {}", text::quoted(function.name), rule));
}

Result<void> check_name(const Function& function) {
  const auto& name = function.name;
  if (name.size() > max_function_bytes) {
    return refuse(function, fmt::format("name: must be at most {} bytes", max_function_bytes));
  }
  if (!is_function_name(name)) {
    return refuse(function,
                  "name: must be words with dots between them, such as payments.charge, or a URN "
                  "such as urn:acme:forrst:fn:charge");
  }
  if (is_reserved_function(name)) {
    return refuse(
        function,
        "name: the protocol keeps forrst.*, urn:forrst:* and the vendor cline for itself");
  }
  return {};
}

Result<void> check_work(const Function& function) {
  if (static_cast<bool>(function.handler) == static_cast<bool>(function.async_handler)) {
    return refuse(function, "needs either a handler or an async_handler");
  }
  if (function.timeout <= Duration::zero() || function.timeout > max_function_timeout) {
    return refuse(function, "timeout: must be more than nothing and at most 24h");
  }
  if (function.rate_limit) {
    const auto good = model::admissible(model::RateCommand{.rule = *function.rate_limit});
    if (!good) return refuse(function, "rate_limit: " + good.error().message);
  }
  return {};
}

Result<void> check_extensions(const Function& function) {
  if (!function.supported_extensions.empty() && !function.excluded_extensions.empty()) {
    return refuse(function, "extensions: either those that are supported or those that are not");
  }
  for (const auto* list : {&function.supported_extensions, &function.excluded_extensions}) {
    for (const auto& name : *list) {
      if (extension_named(name)) continue;
      return refuse(function, fmt::format("extensions: there is no extension {}; there are "
                                          "atomic-lock, deadline, idempotency, rate-limit, retry",
                                          text::quoted(name)));
    }
  }
  return {};
}

Result<void> check_side_effects(const Function& function) {
  constexpr std::array<std::string_view, 3> words{"create", "update", "delete"};
  for (const auto& word : function.side_effects) {
    if (std::ranges::find(words, word) == words.end()) {
      return refuse(function, "side_effects: may be create, update and delete");
    }
  }
  return {};
}

Result<void> check(const Function& function) {
  for (const auto rule : {check_name, check_work, check_extensions, check_side_effects}) {
    if (auto good = rule(function); !good) return good;
  }
  const auto good = check_rules(function.arguments);
  if (!good) return refuse(function, good.error().message);
  return {};
}

boost::json::array strings(const Registry::Versions& versions) {
  boost::json::array list;
  for (const auto& each : versions) list.emplace_back(each->function.version);
  return list;
}

Fault no_version(std::string_view name, const Registry::Versions& versions,
                 const std::optional<std::string>& wanted) {
  Fault fault{.code = std::string(codes::version_not_found), .message = {}};
  fault.details["function"] = name;
  if (wanted) {
    fault.message = fmt::format("Version {} not found for function {}", *wanted, name);
    fault.pointer = "/call/version";
    fault.details["requested_version"] = *wanted;
  } else {
    fault.message = fmt::format("No stable version found for function {}", name);
    fault.pointer = "/call/function";
    fault.details["requested_stability"] = "stable";
  }
  fault.details["available_versions"] = strings(versions);
  return fault;
}

}  // namespace

Result<void> Registry::add(Function function) {
  if (auto good = check(function); !good) return good;
  auto version = Version::parse(function.version);
  if (!version) return refuse(function, "version: must be semantic, such as 1.0.0 or 2.0.0-beta.1");
  if (size_ == max_functions) {
    return fail(Errc::limit_reached, fmt::format("at most {} functions", max_functions));
  }
  if (const auto* known = versions_of(function.name)) {
    const bool is_taken =
        std::ranges::any_of(*known, [&](const auto& each) { return each->version == *version; });
    if (is_taken) {
      return refuse(function, fmt::format("version {} is there already", function.version));
    }
  }
  const std::string name = function.name;
  put(name, std::make_shared<const Registered>(Registered{std::move(function), *version}));
  return {};
}

void Registry::add_system(Function function, std::vector<std::string> names, Caller::Right right,
                          SystemHandler handler) {
  function.name = names.front();
  // What they say is true when they say it, and not a day later.
  function.excluded_extensions = {std::string(name_of(Extension::idempotency))};
  const auto version = Version::parse(function.version);
  const auto entry = std::make_shared<const Registered>(
      Registered{std::move(function), *version, std::move(handler), right});
  put(names.front(), entry);
  for (auto& name : names) by_name_[std::move(name)] = {entry};
}

void Registry::put(const std::string& name, std::shared_ptr<const Registered> entry) {
  auto& versions = by_name_[name];
  if (versions.empty()) names_.insert(std::ranges::upper_bound(names_, name), name);
  const auto place = std::ranges::find_if(
      versions, [&](const auto& each) { return each->version < entry->version; });
  versions.insert(place, std::move(entry));
  ++size_;
}

const Registry::Versions* Registry::versions_of(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &found->second;
}

const Registered* Registry::recommended(const Versions& versions) {
  const auto found = std::ranges::find_if(
      versions, [](const auto& each) { return each->version.stability() == Stability::stable; });
  return found == versions.end() ? nullptr : found->get();
}

std::expected<const Registered*, Fault> Registry::find(
    std::string_view name, const std::optional<std::string>& version) const {
  const auto* versions = versions_of(name);
  if (versions == nullptr) {
    return std::unexpected(Fault{.code = std::string(codes::function_not_found),
                                 .message = fmt::format("Function not found: {}", name),
                                 .pointer = "/call/function",
                                 .details = {{"function", name}}});
  }
  if (!version) {
    if (const auto* newest = recommended(*versions)) return newest;
    return std::unexpected(no_version(name, *versions, version));
  }
  const auto found = std::ranges::find_if(
      *versions, [&](const auto& each) { return each->function.version == *version; });
  if (found == versions->end()) return std::unexpected(no_version(name, *versions, version));
  return found->get();
}

}  // namespace holdfast::forrst
