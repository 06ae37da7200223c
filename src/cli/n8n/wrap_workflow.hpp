// SPDX-License-Identifier: Apache-2.0
//
// What add-lock and add-rate-limit have in common: a workflow is read, something is put into it,
// and it is written again.
#pragma once

#include <holdfast/error.hpp>

#include "cli/console.hpp"
#include "cli/n8n/environment.hpp"
#include "cli/syntax.hpp"
#include "n8n/insert.hpp"
#include "n8n/workflow.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::cli {

struct WrapArguments {
  std::string file;
  std::string scope;
  std::string env;
  std::string output;  // empty: the file itself; "-": standard output
  bool as_template = false;
};

// FILE, --env, --template and --output.
void add_wrap_arguments(Syntax& syntax, WrapArguments& arguments);

struct Wrapping {
  // Changes the workflow and returns what the user should know.
  std::function<Result<std::vector<std::string>>(n8n::Workflow&, const n8n::Filling&)> change;
  std::string scope;                 // as it stands in the workflow
  std::optional<std::string> fixed;  // to be registered in lockScopes
};

// Writes the workflow and the environment file together, or neither.
Result<int> wrap_workflow(Console& console, const WrapArguments& arguments,
                          const Wrapping& wrapping);

}  // namespace holdfast::cli
