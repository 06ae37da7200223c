// SPDX-License-Identifier: Apache-2.0
//
// config.yml, the one format for settings:
//
//     store: file:/var/lib/holdfast
//     ttl: 30s
//     wait: 5s
//     profiles:
//       production: {store: "redis://10.0.0.1:6379", wait: 1m}
//     server: …
//
// Every key may be left out. What is not in this list is refused, so that a slip of the pen is not
// silently a default.
#pragma once

#include <holdfast/error.hpp>
#include <holdfast/options.hpp>

#include "text/config_node.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::text {

inline constexpr std::size_t max_config_bytes = 1024 * 1024;

struct Settings {
  std::optional<std::string> store;  // a well-formed URL
  std::optional<Duration> ttl;       // min_ttl to max_ttl
  std::optional<Duration> wait;      // 0 to max_wait
  friend bool operator==(const Settings&, const Settings&) = default;
};

struct Config {
  Settings defaults;
  std::map<std::string, Settings, std::less<>> profiles;
  // The section `server:`, a map for the server's own loader; null if there is none.
  ConfigNode server;
};

// Errors: bad_input, with file and line: "config.yml:3: …". A file that cannot be read is one too.
Result<Config> load_config(const std::string& path);
Result<Config> parse_config(std::string_view yaml, std::string_view file_name);

// The settings of a profile over the defaults; an empty name means the defaults alone. Errors:
// bad_input for a profile that is not there.
Result<Settings> choose_profile(const Config& config, std::string_view name);

}  // namespace holdfast::text
