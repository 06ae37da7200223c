// SPDX-License-Identifier: Apache-2.0
#include "cli/arguments.hpp"

#include <algorithm>
#include <array>

namespace holdfast::cli {
namespace {

// Those of the common options that take a value, which must not be mistaken for the command.
constexpr std::array<std::string_view, 3> with_value{"--store", "--profile", "--config"};

}  // namespace

Words take_apart(std::vector<std::string> arguments) {
  Words words;
  const auto separator = std::ranges::find(arguments, "--");
  words.has_separator = separator != arguments.end();
  if (words.has_separator) words.rest.assign(separator + 1, arguments.end());
  arguments.erase(separator, arguments.end());

  auto word = arguments.begin();
  while (word != arguments.end() && word->starts_with('-')) {
    const bool has_value = std::ranges::find(with_value, *word) != with_value.end();
    if (has_value && word + 1 != arguments.end()) ++word;
    ++word;
  }
  if (word != arguments.end()) {
    words.command = std::move(*word);
    arguments.erase(word);
  }
  words.options = std::move(arguments);
  return words;
}

void declare_common(Syntax& syntax, CommonOptions& options) {
  syntax.help_flag("-h,--help", "Show this text and exit");
  syntax.option("--store", &options.sources.store, "URL",
                "Where the locks are: file:, file:/some/folder, redis://HOST:PORT, "
                "redlock://HOST,HOST,HOST, …");
  syntax.option("--profile", &options.sources.profile, "PROFILE", "Use this profile of config.yml");
  syntax.option("--config", &options.sources.config, "FILE",
                "Read this file instead of the usual config.yml");
  syntax.flag("--json", &options.console.json, "Write JSON, one object per line");
  syntax.flag("-q,--quiet", &options.console.quiet, "Write nothing but errors");
  syntax.flag("-v,--verbose", &options.console.verbose, "Say what is being done");
}

}  // namespace holdfast::cli
