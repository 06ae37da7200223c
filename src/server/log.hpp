// SPDX-License-Identifier: Apache-2.0
//
// What the server says about itself, one line each on standard error: for people or as JSON. Never
// an owner token, a bearer token or a password; control characters are escaped.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace holdfast::server {

enum class LogFormat : std::uint8_t { text, json };
enum class LogLevel : std::uint8_t { debug, info, warning, error };

struct LogField {
  std::string_view name;
  std::string value;
};

// From now on, for the whole process; warnings of the library come here too.
void set_log(LogFormat format, LogLevel level);
bool logs(LogLevel level) noexcept;
void log(LogLevel level, std::string_view message, std::initializer_list<LogField> fields = {});

// The line as it is written, without the line end.
std::string log_line(LogFormat format, LogLevel level, std::string_view time,
                     std::string_view message, std::initializer_list<LogField> fields);

}  // namespace holdfast::server
