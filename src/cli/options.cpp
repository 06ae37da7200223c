// SPDX-License-Identifier: Apache-2.0
#include "cli/options.hpp"

#include "text/duration.hpp"

#include <fmt/format.h>

#include <utility>

namespace holdfast::cli {

CLI::Option* add_duration(CLI::App& app, std::string names, std::optional<Duration>& value,
                          std::string description) {
  const auto long_name = names.substr(names.find("--"));
  const auto read = [&value, long_name](const std::string& text) {
    const auto duration = text::parse_duration(text);
    if (!duration) throw CLI::ValidationError(long_name, duration.error().message);
    value = *duration;
  };
  return app.add_option_function<std::string>(std::move(names), read, std::move(description))
      ->type_name("DURATION");
}

CLI::Option* add_name(CLI::App& app, std::string& name) {
  return app.add_option("NAME", name, "The lock's name")->required()->type_name("");
}

CLI::Option* add_owner(CLI::App& app, std::string& owner) {
  return app
      .add_option("--owner", owner,
                  "The owner token that acquire printed; HOLDFAST_OWNER if not given")
      ->type_name("TOKEN");
}

}  // namespace holdfast::cli
