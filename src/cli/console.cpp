// SPDX-License-Identifier: Apache-2.0
#include "cli/console.hpp"

#include "cli/look/display.hpp"
#include "text/json.hpp"

#include <boost/json/serialize.hpp>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>

namespace holdfast::cli {
namespace {

namespace json = boost::json;

bool wants_colours(int fd) {
  const char* no_color = std::getenv("NO_COLOR");
  if (no_color != nullptr && *no_color != '\0') return false;
  const char* terminal = std::getenv("TERM");
  if (terminal == nullptr || std::string_view(terminal) == "dumb") return false;
  return isatty(fd) == 1;
}

std::string_view sequence(Style style) {
  switch (style) {
    case Style::bold: return "\x1b[1m";
    case Style::dim: return "\x1b[2m";
    case Style::red: return "\x1b[31m";
    case Style::green: return "\x1b[32m";
    case Style::yellow: return "\x1b[33m";
    case Style::cyan: return "\x1b[36m";
    case Style::plain: break;
  }
  return "";
}

// What nobody reads must not hold up what is to be done: a terminal may be stopped by Ctrl-S, a
// pipe full. An error is worth more patience than a note.
using Patience = std::chrono::milliseconds;

void say(std::string_view text, Patience patience) {
  pollfd standard_error{STDERR_FILENO, POLLOUT, 0};
  const auto milliseconds = static_cast<int>(patience.count());
  if (poll(&standard_error, 1, milliseconds) > 0) (void)write_all(STDERR_FILENO, text);
}

// A sentence may quote what others wrote into the store, such as the name of a program.
void say_sentence(std::string_view sentence, Patience patience) {
  say(fmt::format("holdfast: {}\n", cleaned(sentence)), patience);
}

// JSON allows what a terminal would act on: the control characters of 8 bits, and those that turn
// the direction of writing. Where a text has them, they are spelt out.
std::string harmless_json(const json::object& object) {
  const auto plain = json::serialize(object);
  std::string out;
  out.reserve(plain.size() + 1);
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const auto byte = [&](std::size_t ahead) {
      return i + ahead < plain.size() ? static_cast<unsigned char>(plain[i + ahead]) : 0U;
    };
    if (byte(0) == 0x7f) {
      out += "\\u007f";
    } else if (byte(0) == 0xc2 && byte(1) >= 0x80 && byte(1) < 0xa0) {
      out += fmt::format("\\u{:04x}", byte(1));
      i += 1;
    } else if (byte(0) == 0xe2 && ((byte(1) == 0x80 && byte(2) >= 0xaa && byte(2) <= 0xae) ||
                                   (byte(1) == 0x81 && byte(2) >= 0xa6 && byte(2) <= 0xa9))) {
      out += fmt::format("\\u{:04x}", 0x2000 + (byte(1) - 0x80U) * 64 + (byte(2) - 0x80U));
      i += 2;
    } else {
      out += plain[i];
    }
  }
  return out + "\n";
}

void say(const json::object& object, Patience patience) { say(harmless_json(object), patience); }

}  // namespace

int write_all(int fd, std::string_view text) noexcept {
  while (!text.empty()) {
    const auto written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

Console::Console(ConsoleOptions options)
    : options_(options), colours_(!options.json && wants_colours(STDOUT_FILENO)) {}

void Console::print(std::string_view line) {
  if (options_.json || options_.quiet) return;
  out_ += line;
  out_ += '\n';
}

void Console::print(const json::object& result) {
  if (!options_.json) return;
  out_ += harmless_json(result);
}

void Console::note(std::string_view sentence) {
  if (options_.quiet) return;
  if (options_.json) return say(json::object{{"note", sentence}}, note_patience);
  say_sentence(sentence, note_patience);
}

void Console::detail(std::string_view sentence) {
  if (!options_.verbose) return;
  if (options_.json) return say(json::object{{"detail", sentence}}, note_patience);
  say_sentence(sentence, note_patience);
}

void Console::event(const json::object& event) {
  if (options_.json) say(event, note_patience);
}

void Console::error(const Error& error) {
  if (options_.json) return say(json::object{{"error", text::to_json(error)}}, error_patience);
  say_sentence(error.message, error_patience);
}

void Console::error(std::string_view message, int exit_code) {
  if (!options_.json) return say_sentence(message, error_patience);
  const json::object what{{"code", nullptr}, {"message", message}, {"exit_code", exit_code}};
  say(json::object{{"error", what}}, error_patience);
}

bool Console::finish() {
  const int failure = write_all(STDOUT_FILENO, out_);
  out_.clear();
  if (failure == 0) return true;
  error(fmt::format("standard output: {}", std::generic_category().message(failure)),
        exit_output_failed);
  return false;
}

std::string Console::styled(Style style, std::string_view text) const {
  if (!colours_ || style == Style::plain) return std::string(text);
  return fmt::format("{}{}\x1b[0m", sequence(style), text);
}

}  // namespace holdfast::cli
