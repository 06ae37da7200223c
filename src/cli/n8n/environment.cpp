// SPDX-License-Identifier: Apache-2.0
#include "cli/n8n/environment.hpp"

#include "cli/n8n/files.hpp"
#include "n8n/limits.hpp"

#include <utility>

namespace holdfast::cli {

Result<std::optional<EnvironmentFile>> read_environment(const std::string& path) {
  if (path.empty()) return std::nullopt;
  auto text = read_file(path, {n8n::max_env_bytes, "max_env_bytes"});
  if (!text) return std::unexpected(std::move(text.error()));
  auto env = n8n::Env::parse(*text, path);
  if (!env) return std::unexpected(std::move(env.error()));
  return EnvironmentFile{path, std::move(*text), std::move(*env)};
}

Option& add_environment(Syntax& syntax, std::string& path, std::string text) {
  return syntax.option("--env", &path, "FILE", std::move(text));
}

}  // namespace holdfast::cli
