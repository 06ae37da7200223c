// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/client.hpp>

#include "cli/console.hpp"
#include "cli/settings.hpp"

#include <optional>
#include <string>
#include <vector>

namespace holdfast::cli {

// What a command works with besides its own options.
class Context {
 public:
  Context(SettingSources sources, Console& console, std::vector<std::string> command_line)
      : command_line(std::move(command_line)), console(console), sources_(std::move(sources)) {}

  // Read at the first call, so that a command that needs none works with a broken config file.
  Result<Settings> settings();
  // From now on the store in force is another one, made from what the settings say.
  Result<void> change_store(std::string (*change)(std::string_view));
  // The store in force. Errors name it, and how long it was tried.
  Result<Client> open_store();

  const std::vector<std::string> command_line;  // what stood behind "--"
  Console& console;

 private:
  SettingSources sources_;
  std::optional<Result<Settings>> settings_;
};

}  // namespace holdfast::cli
