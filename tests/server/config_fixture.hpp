// SPDX-License-Identifier: Apache-2.0
//
// The options of the server in a configuration file.
#pragma once

#include "server/config.hpp"

#include <gtest/gtest.h>

#include <string>

namespace holdfast::server {

inline Result<ServerOptions> options_in(const std::string& file) {
  const auto config = text::parse_config(file, "config.yml");
  if (!config) return std::unexpected(config.error());
  return load_server_options(*config, "config.yml");
}

// The sentence with which this file is refused.
inline std::string refusal_of(const std::string& file) {
  const auto options = options_in(file);
  EXPECT_FALSE(options) << file;
  if (options) return "";
  EXPECT_EQ(options.error().code, Errc::bad_input);
  return options.error().message;
}

}  // namespace holdfast::server
