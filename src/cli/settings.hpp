// SPDX-License-Identifier: Apache-2.0
//
// What is in force, and from where. In order of precedence: the option, the environment, the user's
// config.yml, the machine's config.yml, the built-in default. A profile that an option chose counts
// as an option.
#pragma once

#include <holdfast/error.hpp>
#include <holdfast/options.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::cli {

inline constexpr std::string_view machine_config = "/etc/holdfast/config.yml";

template <typename T>
struct Setting {
  T value{};
  std::string origin = "default";  // "--store", "HOLDFAST_STORE", "/etc/holdfast/config.yml", …
};

struct ConfigFile {
  std::string path;
  bool found = false;
};

struct Settings {
  Setting<std::string> store;
  Setting<Duration> ttl;
  Setting<std::optional<Duration>> wait;  // nothing: each command's own default
  Setting<std::string> profile;           // empty: none
  std::vector<ConfigFile> files;          // where was looked, the first one wins
};

// What the command line said; empty where it said nothing.
struct SettingSources {
  std::string store;
  std::string profile;
  std::string config;  // a file instead of the two usual ones
};

// Opens no file but those that exist. Errors: bad_input, with the file and the line.
Result<Settings> load_settings(const SettingSources& sources);

}  // namespace holdfast::cli
