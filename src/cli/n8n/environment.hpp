// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/error.hpp>

#include "cli/syntax.hpp"
#include "n8n/env.hpp"

#include <optional>
#include <string>

namespace holdfast::cli {

// The environment file that --env names.
struct EnvironmentFile {
  std::string path;
  std::string text;
  n8n::Env env;
};

// Nothing if the path is empty.
Result<std::optional<EnvironmentFile>> read_environment(const std::string& path);

// --env, with what it is for.
Option& add_environment(Syntax& syntax, std::string& path, std::string text);

}  // namespace holdfast::cli
