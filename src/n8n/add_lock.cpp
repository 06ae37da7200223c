// SPDX-License-Identifier: Apache-2.0
#include "n8n/add_lock.hpp"

#include "n8n/placeholders.hpp"
#include "text/quote.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace holdfast::n8n {
namespace {

namespace json = boost::json;

constexpr std::string_view acquire_name = "Lock Acquire";
constexpr std::string_view release_name = "Lock Release";
constexpr std::string_view restore_name = "Restore Trigger Data";
constexpr std::string_view ends_name = "Branch Ends";
constexpr std::string_view done_name = "All Branches Done";

constexpr std::string_view nothing =
    "// Hands nothing on: what is behind it runs when no branch is left to run.\nreturn [];";

// The execution alone would not tell two locks of one execution apart.
constexpr std::string_view fresh_lock_id =
    "={{ $execution.id + '-' + Date.now().toString(36) + Math.random().toString(36).slice(2, 10) "
    "}}";

json::object acquire_node(const LockWish& wish, Place place) {
  auto node = call_node("lock-acquire", acquire_name, place, "lock_acquisition",
                        {{"scope", wish.scope.text},
                         {"ttl_seconds", wish.ttl_seconds},
                         {"execution_id", "={{ $execution.id }}"},
                         {"wait_till_lock_released", !wish.fail_fast},
                         {"max_wait_seconds", wish.max_wait_seconds},
                         {"lock_id", fresh_lock_id},
                         {"workflow_id", "={{ $workflow.id }}"},
                         {"workflow_name", "={{ $workflow.name }}"}});
  node["executeOnce"] = true;
  return node;
}

// By what the acquire returned: here, $json is something else than it was there.
json::object release_node(Place place) {
  auto node = call_node("lock-release", release_name, place, "lock_release",
                        {{"scope", "={{ $('Lock Acquire').first().json.scope }}"},
                         {"lock_id", "={{ $('Lock Acquire').first().json.lock_id }}"}});
  node["executeOnce"] = true;
  return node;
}

std::string numbered(std::string_view name, std::size_t number) {
  return number == 1 ? std::string(name) : fmt::format("{} {}", name, number);
}

// Puts the lock into a workflow whose entry has been chosen.
class Insertion {
 public:
  Insertion(Workflow& workflow, std::string entry)
      : workflow_(workflow), entry_(std::move(entry)), at_(workflow.place_of(entry_)) {}

  void insert(const LockWish& wish) {
    const auto fixed = in_front();
    workflow_.shift_right(2 * column_width, fixed);
    auto taken = take_outputs(workflow_, entry_);
    added_.push_back(acquire_node(wish, {at_.x + column_width, at_.y}));
    const auto used = used_outputs(taken);
    if (used.size() == 1) {
      restore_by_merge(taken, used.front());
    } else {
      restore_by_code(taken, used);
    }
  }

  // All branches lead to a node that hands nothing on, so the Merge behind it gets its second input
  // from the acquire and never its first. n8n runs such a node when nothing else is left to run:
  // once, after all branches and the Merge nodes in them, also when a branch ended without an item,
  // or at an output that leads nowhere, or was one of a loop's rounds.
  void finish(const std::vector<End>& ends) {
    const auto x = rightmost() + column_width;
    added_.push_back(code_node("lock-ends", ends_name, {x, at_.y}, nothing));
    added_.push_back(make_node({"lock-done", done_name, type_merge, 3, {x + column_width, at_.y}},
                               {{"mode", "append"}}));
    added_.push_back(release_node({x + 2 * column_width, at_.y}));
    auto wires = workflow_.wires();
    for (const auto& end : ends) wires.join(end.node, end.output, ends_name);
    wires.join(ends_name, 0, done_name, 0);
    wires.join(acquire_name, 0, done_name, 1);
    wires.chain(done_name, release_name);
  }

  json::value take_added() { return std::move(added_); }

 private:
  // What stays where it is: the trigger, and a gate with everything that is not behind it.
  std::set<std::string> in_front() const {
    std::set<std::string> out{entry_};
    for (const auto& trigger : workflow_.triggers()) {
      if (trigger != entry_) out.merge(workflow_.behind(trigger, {entry_}));
    }
    return out;
  }

  // The Merge hands on the trigger's own items, with their links, once the lock is held.
  void restore_by_merge(std::vector<json::array>& taken, std::size_t output) {
    added_.push_back(
        make_node({"lock-restore", restore_name, type_merge, 3, {at_.x + 2 * column_width, at_.y}},
                  {{"mode", "chooseBranch"}, {"useDataOfInput", 1}}));
    auto wires = workflow_.wires();
    wires.join(entry_, output, acquire_name);
    wires.join(entry_, output, restore_name, 0);
    wires.join(acquire_name, 0, restore_name, 1);
    lead_on(restore_name, taken, output);
  }

  // With several outputs, a Merge for each would wait for ever for those that gave nothing, and
  // everything behind it with it.
  void restore_by_code(std::vector<json::array>& taken, const std::vector<std::size_t>& used) {
    auto wires = workflow_.wires();
    for (std::size_t i = 0; i < used.size(); ++i) {
      const auto name = numbered(restore_name, i + 1);
      const Place place{at_.x + 2 * column_width, at_.y + static_cast<double>(i) * row_height};
      added_.push_back(
          repeat_node(fmt::format("lock-restore-{}", i + 1), name, place, entry_, used[i]));
      wires.join(entry_, used[i], acquire_name);
      wires.join(acquire_name, 0, name);
      lead_on(name, taken, used[i]);
    }
  }

  void lead_on(std::string_view from, std::vector<json::array>& taken, std::size_t output) {
    if (output < taken.size()) workflow_.wires().output(from, 0) = std::move(taken[output]);
  }

  double rightmost() const {
    double x = at_.x + 2 * column_width;
    for (const auto& name : workflow_.behind(acquire_name)) {
      x = std::max(x, workflow_.place_of(name).x);
    }
    return x;
  }

  Workflow& workflow_;
  std::string entry_;
  Place at_;
  json::array added_;
};

// A gate comes first: who is turned away must not have waited for the lock.
std::string entry_of(const Workflow& workflow, std::string trigger) {
  const bool has_gate = workflow.find(passed_name) != nullptr &&
                        workflow.find(numbered(passed_name, 2)) == nullptr &&
                        workflow.behind(trigger).contains(std::string(passed_name));
  return has_gate ? std::string(passed_name) : trigger;
}

Result<void> set_error_workflow(Workflow& workflow, const Filling& filling) {
  json::value handler(env_placeholder("workflows.error_handler_lock_cleanup.id"));
  if (auto done = fill(handler, workflow, filling); !done) return done;
  auto& settings = workflow.root()["settings"];
  if (!settings.is_object()) settings = json::object();
  auto& current = settings.get_object()["errorWorkflow"];
  const bool is_set = current.is_string() && !current.get_string().empty() && current != handler;
  if (is_set) {
    return fail(Errc::bad_input,
                fmt::format("settings.errorWorkflow is {} already; call the clean-up from there, "
                            "or take it out",
                            text::quoted(current.get_string())));
  }
  current = std::move(handler);
  return {};
}

// Such a Merge waits for all of its inputs, and whatever is behind it waits for it.
void note_merges(const Workflow& workflow, std::string_view entry,
                 std::vector<std::string>& notes) {
  for (const auto& name : workflow.behind(entry)) {
    const auto* node = workflow.find(name);
    if (node == nullptr || type_of(*node) != type_merge || !waits_for_all(*node)) continue;
    notes.push_back(
        fmt::format("{} waits for both of its branches; if one has no item, the lock "
                    "is held until its ttl ends",
                    text::quoted(name)));
  }
}

void note_stops(const Workflow& workflow, std::string_view entry, const LockWish& wish,
                std::vector<std::string>& notes) {
  if (wish.on_error) return;
  for (const auto& name : workflow.behind(entry)) {
    const auto* node = workflow.find(name);
    if (node == nullptr || type_of(*node) != type_stop) continue;
    notes.push_back(
        fmt::format("{} ends the workflow without giving the lock back; with "
                    "--lock-on-error the error workflow does it",
                    text::quoted(name)));
  }
}

std::vector<std::string> notes_on(const Workflow& workflow, std::string_view entry,
                                  const LockWish& wish, const Filling& filling) {
  std::vector<std::string> notes;
  if (wish.scope.remark) notes.push_back(*wish.scope.remark);
  if (!wish.scope.fixed) {
    notes.emplace_back(
        "the scope depends on the data, so it cannot be registered in lockScopes; after a failure "
        "it is free again when its ttl ends");
  }
  if (!filling.as_template && filling.env == nullptr) {
    notes.emplace_back(
        "the ids of lock_acquisition and lock_release are placeholders; --env FILE.yml fills them "
        "in");
  }
  const auto* settings = workflow.root().if_contains("settings");
  const auto* order = settings == nullptr || !settings->is_object()
                          ? nullptr
                          : settings->get_object().if_contains("executionOrder");
  if (order == nullptr || *order != "v1") {
    notes.emplace_back(
        "settings.executionOrder is not v1; in the older order a lock may be given back while a "
        "branch still runs");
  }
  note_stops(workflow, entry, wish, notes);
  note_merges(workflow, entry, notes);
  return notes;
}

}  // namespace

Result<std::vector<std::string>> add_lock(Workflow& workflow, const LockWish& wish,
                                          const Filling& filling) {
  if (auto fine = refuse_names(workflow, {acquire_name}, "it is under a lock"); !fine) {
    return std::unexpected(std::move(fine.error()));
  }
  if (auto fine =
          refuse_names(workflow, {release_name, restore_name, ends_name, done_name}, "rename it");
      !fine) {
    return std::unexpected(std::move(fine.error()));
  }
  auto trigger = only_trigger(workflow);
  if (!trigger) return std::unexpected(std::move(trigger.error()));
  auto changed = workflow;
  const auto entry = entry_of(changed, std::move(*trigger));
  auto notes = notes_on(changed, entry, wish, filling);
  Insertion insertion(changed, entry);
  auto ends = changed.ends_behind(entry);
  insertion.insert(wish);
  // A trigger alone, or a circle: then what restores the items stands for the end.
  if (ends.empty()) ends = {{std::string(restore_name), 0}};
  insertion.finish(ends);
  auto added = insertion.take_added();
  if (auto done = fill(added, changed, filling); !done) {
    return std::unexpected(std::move(done.error()));
  }
  changed.add(std::move(added.get_array()));
  if (wish.on_error) {
    if (auto done = set_error_workflow(changed, filling); !done) {
      return std::unexpected(std::move(done.error()));
    }
  }
  workflow = std::move(changed);
  return notes;
}

}  // namespace holdfast::n8n
