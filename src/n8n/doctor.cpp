// SPDX-License-Identifier: Apache-2.0
#include "n8n/doctor.hpp"

#include "n8n/placeholders.hpp"
#include "n8n/scope.hpp"
#include "text/quote.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace holdfast::n8n {
namespace {

namespace json = boost::json;

const json::value* at_path(const json::object& object, std::string_view first,
                           std::string_view second) {
  const auto* inner = object.if_contains(first);
  return inner != nullptr && inner->is_object() ? inner->get_object().if_contains(second) : nullptr;
}

const json::object& parameters_of(const json::object& node) {
  static const json::object none;
  const auto* value = node.if_contains("parameters");
  return value != nullptr && value->is_object() ? value->get_object() : none;
}

// By its name, as add-lock gives it, or by the workflow that it calls.
bool calls(const json::object& node, std::string_view name, std::string_view key, const Env* env) {
  if (type_of(node) != type_execute_workflow) return false;
  if (name_of(node) == name) return true;
  const auto* called = at_path(parameters_of(node), "workflowId", "value");
  if (called == nullptr || !called->is_string()) return false;
  const auto path = fmt::format("workflows.{}.id", key);
  const auto id = env == nullptr ? std::nullopt : env->id(path);
  const std::string_view text = called->get_string();
  return text == env_placeholder(path) || (id && text == *id);
}

std::optional<std::string> scope_of(const json::object& acquire) {
  const auto* inputs = at_path(parameters_of(acquire), "workflowInputs", "value");
  if (inputs == nullptr || !inputs->is_object()) return std::nullopt;
  const auto* scope = inputs->get_object().if_contains("scope");
  if (scope == nullptr || !scope->is_string()) return std::nullopt;
  return std::string(scope->get_string());
}

LockCheck check_scope(const json::object& acquire, std::string label, const Env* env) {
  const auto written = scope_of(acquire);
  const auto scope = written ? fixed_scope(*written) : std::nullopt;
  if (!written) {
    return {Finding::note, std::move(label), "has no scope, so it is \"default\" for everybody"};
  }
  if (!scope) {
    return {Finding::note, std::move(label),
            fmt::format("scope {} depends on the data: after a failure it is free again when its "
                        "ttl ends",
                        *written)};
  }
  if (env == nullptr) {
    return {Finding::note, std::move(label),
            fmt::format("scope {}: --env FILE.yml would tell whether it is registered",
                        text::quoted(*scope))};
  }
  const auto known = env->lock_scopes();
  if (std::ranges::find(known, *scope) == known.end()) {
    return {Finding::unregistered, std::move(label),
            fmt::format("scope {} is not in lockScopes: after a failure nobody gives it back "
                        "before its ttl ends",
                        text::quoted(*scope))};
  }
  return {Finding::fine, std::move(label),
          fmt::format("scope {} is registered", text::quoted(*scope))};
}

class Examination {
 public:
  Examination(const Workflow& workflow, std::string_view file_name, const Env* env)
      : workflow_(workflow), file_name_(file_name), env_(env) {
    for (const auto& each : workflow.nodes()) {
      const auto& node = each.get_object();
      const std::string name(name_of(node));
      if (calls(node, "Lock Acquire", "lock_acquisition", env)) acquires_.insert(name);
      if (calls(node, "Lock Release", "lock_release", env)) releases_.insert(name);
    }
  }

  std::vector<LockCheck> all() const {
    std::vector<LockCheck> checks;
    for (const auto& name : acquires_) {
      checks.push_back(check_scope(*workflow_.find(name), label(name), env_));
      check_release(name, checks);
    }
    if (!acquires_.empty()) check_bypass(checks);
    return checks;
  }

 private:
  std::string label(std::string_view node) const { return fmt::format("{}: {}", file_name_, node); }

  void check_release(const std::string& acquire, std::vector<LockCheck>& checks) const {
    const auto behind = workflow_.behind(acquire);
    const auto is_behind = [&](const std::string& name) { return behind.contains(name); };
    if (std::ranges::any_of(releases_, is_behind)) return;
    checks.push_back({Finding::unsafe, label(acquire),
                      "no Lock Release is behind it: the lock stays until its ttl ends"});
  }

  // What runs behind a lock must not be reached without it.
  void check_bypass(std::vector<LockCheck>& checks) const {
    std::set<std::string> guarded;
    for (const auto& name : acquires_) guarded.merge(workflow_.behind(name));
    const auto closed = closed_doors();
    for (const auto& trigger : workflow_.triggers()) {
      std::vector<std::string> reached;
      for (const auto& name : workflow_.behind(trigger, closed)) {
        if (guarded.contains(name)) reached.push_back(text::quoted(name));
      }
      if (reached.empty()) continue;
      checks.push_back({Finding::unsafe, label(trigger),
                        fmt::format("reaches {} without the lock", fmt::join(reached, ", "))});
    }
  }

  // Where nothing gets through without a lock: the acquires, and the Merge nodes that wait for them
  // while they keep the trigger's items.
  std::set<std::string> closed_doors() const {
    auto closed = acquires_;
    for (const auto& each : workflow_.nodes()) {
      if (type_of(each.get_object()) != type_merge) continue;
      std::string merge(name_of(each.get_object()));
      if (waits_for_lock(merge)) closed.insert(std::move(merge));
    }
    return closed;
  }

  bool waits_for_lock(const std::string& merge) const {
    if (!waits_for_all(*workflow_.find(merge))) return false;
    return std::ranges::any_of(acquires_, [&](const std::string& acquire) {
      for (const auto& output : workflow_.outputs_of(acquire)) {
        for (const auto& target : output) {
          if (target.get_object().at("node").get_string() == merge) return true;
        }
      }
      return false;
    });
  }

  const Workflow& workflow_;
  std::string_view file_name_;
  const Env* env_;
  std::set<std::string> acquires_;
  std::set<std::string> releases_;
};

bool has(std::span<const LockCheck> checks, Finding finding) {
  return std::ranges::find(checks, finding, &LockCheck::finding) != checks.end();
}

}  // namespace

std::vector<LockCheck> examine_locks(const Workflow& workflow, std::string_view file_name,
                                     const Env* env) {
  return Examination(workflow, file_name, env).all();
}

std::string_view verdict(std::span<const LockCheck> checks) {
  if (has(checks, Finding::unsafe)) return "locks-unsafe";
  if (has(checks, Finding::unregistered)) return "lock-scopes-unregistered";
  return "ok";
}

std::string_view to_word(Finding finding) {
  if (finding == Finding::fine) return "ok";
  return finding == Finding::note ? "note" : "fail";
}

json::object to_json(std::span<const LockCheck> checks) {
  json::array list;
  for (const auto& check : checks) {
    list.push_back(json::object{
        {"state", to_word(check.finding)}, {"label", check.label}, {"detail", check.detail}});
  }
  return {{"verdict", verdict(checks)}, {"checks", std::move(list)}};
}

}  // namespace holdfast::n8n
