// SPDX-License-Identifier: Apache-2.0
//
// What is in force, and from where. In order of precedence: the option, the environment, the user's
// config.yml, the machine's config.yml, the built-in default.
#pragma once

#include <holdfast/error.hpp>
#include <holdfast/options.hpp>

#include <optional>
#include <string>

namespace holdfast::cli {

template <typename T>
struct Setting {
  T value{};
  std::string origin = "default";  // "--store", "HOLDFAST_STORE", "/etc/holdfast/config.yml", …
};

struct Settings {
  Setting<std::string> store;
  Setting<Duration> ttl;
  Setting<std::optional<Duration>> wait;  // nothing: each command's own default
};

// What the command line said; empty where it said nothing.
struct SettingSources {
  std::string store;
  std::string profile;
  std::string config;  // a file instead of the two usual ones
};

Result<Settings> load_settings(const SettingSources& sources);

}  // namespace holdfast::cli
