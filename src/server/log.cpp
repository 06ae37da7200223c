// SPDX-License-Identifier: Apache-2.0
#include "server/log.hpp"

#include "runtime/log.hpp"
#include "text/json.hpp"

#include <boost/json/serialize.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <iterator>

namespace holdfast::server {

namespace {

std::atomic<LogFormat> format_in_force{LogFormat::text};
std::atomic<LogLevel> level_in_force{LogLevel::info};

std::string_view word_of(LogLevel level) {
  constexpr std::array<std::string_view, 4> words{"debug", "info", "warning", "error"};
  return words[static_cast<std::size_t>(level)];
}

void warn(std::string_view message) { log(LogLevel::warning, message); }

// One line whatever came in; quoted where a reader could not tell where it ends.
std::string plain(std::string_view text, bool always_whole) {
  std::string out;
  bool needs_quotes = text.empty();
  for (const char each : text) {
    const auto byte = static_cast<unsigned char>(each);
    if (byte < 0x20 || byte == 0x7f) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", byte);
      continue;
    }
    if (each == ' ' || each == '"' || each == '=') needs_quotes = true;
    if (each == '"' && !always_whole) out.push_back('\\');
    out.push_back(each);
  }
  return needs_quotes && !always_whole ? fmt::format("\"{}\"", out) : out;
}

}  // namespace

void set_log(LogFormat format, LogLevel level) {
  format_in_force = format;
  level_in_force = level;
  runtime::send_warnings_to(&warn);
}

bool logs(LogLevel level) noexcept { return level >= level_in_force.load(); }

std::string log_line(LogFormat format, LogLevel level, std::string_view time,
                     std::string_view message, std::initializer_list<LogField> fields) {
  if (format == LogFormat::json) {
    boost::json::object line{{"at", time}, {"level", word_of(level)}, {"message", message}};
    for (const auto& field : fields) line[field.name] = field.value;
    return boost::json::serialize(line);
  }
  std::string line = fmt::format("{} {:<7} {}", time, word_of(level), plain(message, true));
  for (const auto& field : fields) {
    fmt::format_to(std::back_inserter(line), " {}={}", field.name, plain(field.value, false));
  }
  return line;
}

void log(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) {
  if (!logs(level)) return;
  const auto now = std::chrono::floor<Micros>(std::chrono::system_clock::now());
  auto line = log_line(format_in_force.load(), level, text::format_time(now), message, fields);
  line.push_back('\n');
  // One call, so that lines of several threads never mix. A log that cannot be written is no
  // reason to stop.
  [[maybe_unused]] const auto written = write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace holdfast::server
