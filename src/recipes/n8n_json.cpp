// SPDX-License-Identifier: Apache-2.0
#include "recipes/n8n_json.hpp"

#include <boost/json/array.hpp>

#include <algorithm>

namespace holdfast::n8n {

namespace json = boost::json;

namespace {

json::array array_of(const std::vector<std::string>& texts) {
  json::array out;
  for (const auto& text : texts) out.emplace_back(text);
  return out;
}

}  // namespace

json::object to_json(const Lock& lock) {
  return {{"acquired", true},
          {"count", lock.count},
          {"scope", lock.scope},
          {"lock_id", lock.lock_id},
          {"key", lock.key},
          {"meta_key", lock.meta_key},
          {"workflow_id", lock.workflow_id},
          {"workflow_name", lock.workflow_name},
          {"execution_id", lock.execution_id},
          {"locked_at", lock.locked_at},
          {"fence", lock.fence}};
}

json::object to_json(const Release& release) {
  json::value lock_id;
  if (release.lock_id) lock_id = *release.lock_id;
  return {{"released", true},
          {"idempotent", release.idempotent},
          {"scope", release.scope},
          {"lock_id", std::move(lock_id)}};
}

json::object to_json(std::string_view scope, const RateOutcome& outcome) {
  const auto reset = std::chrono::ceil<std::chrono::milliseconds>(outcome.reset_after);
  return {{"allowed", outcome.allowed},     {"scope", scope},
          {"count", outcome.count},         {"limit", outcome.limit},
          {"remaining", outcome.remaining}, {"reset_ms", reset.count()}};
}

json::object to_json(const CleanUp& clean_up) {
  const auto scopes = scopes_of(clean_up);
  json::object out{{"cleaned", !scopes.empty()},
                   {"cleaned_count", scopes.size()},
                   {"scopes", array_of(scopes)},
                   {"registered", array_of(clean_up.registered)},
                   {"found", array_of(clean_up.found)}};
  if (!clean_up.reason.empty()) out["reason"] = clean_up.reason;
  return out;
}

std::vector<std::string> scopes_of(const CleanUp& clean_up) {
  auto scopes = clean_up.registered;
  scopes.insert(scopes.end(), clean_up.found.begin(), clean_up.found.end());
  std::ranges::sort(scopes);
  return scopes;
}

}  // namespace holdfast::n8n
