// SPDX-License-Identifier: Apache-2.0
//
// What may go wrong with the locks of workflows, as far as their files tell.
#pragma once

#include "n8n/env.hpp"
#include "n8n/workflow.hpp"

#include <boost/json/object.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::n8n {

enum class Finding {
  fine,
  note,          // worth knowing
  unregistered,  // a scope that the clean-up after a failure does not know
  unsafe,        // a lock that is not given back, or that does not guard everything
};

struct LockCheck {
  Finding finding = Finding::fine;
  std::string label;   // "flow.json: Lock Acquire"
  std::string detail;  // one sentence
};

// Of one workflow; nothing if it takes no lock. Without an environment file, no scope is compared.
std::vector<LockCheck> examine_locks(const Workflow& workflow, std::string_view file_name,
                                     const Env* env);

// "ok", "lock-scopes-unregistered" or "locks-unsafe"; the latter wins.
std::string_view verdict(std::span<const LockCheck> checks);
// "ok", "note" or "fail".
std::string_view to_word(Finding finding);
// {"verdict": …, "checks": [{"state", "label", "detail"}]}
boost::json::object to_json(std::span<const LockCheck> checks);

}  // namespace holdfast::n8n
