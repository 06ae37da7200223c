// SPDX-License-Identifier: Apache-2.0
#include "cli/console.hpp"

#include "cli/look/display.hpp"
#include "text/json.hpp"

#include <boost/json/serialize.hpp>
#include <fmt/format.h>
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

// There is nobody left to tell if standard error does not take it.
void say(std::string_view text) { (void)write_all(STDERR_FILENO, text); }

// A sentence may quote what others wrote into the store, such as the name of a program.
void say_sentence(std::string_view sentence) {
  say(fmt::format("holdfast: {}\n", cleaned(sentence)));
}

void say(const json::object& object) { say(json::serialize(object) + "\n"); }

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
  out_ += json::serialize(result);
  out_ += '\n';
}

void Console::note(std::string_view sentence) {
  if (options_.quiet) return;
  if (options_.json) return say(json::object{{"note", sentence}});
  say_sentence(sentence);
}

void Console::detail(std::string_view sentence) {
  if (!options_.verbose) return;
  if (options_.json) return say(json::object{{"detail", sentence}});
  say_sentence(sentence);
}

void Console::event(const json::object& event) {
  if (options_.json) say(event);
}

void Console::error(const Error& error) {
  if (options_.json) return say(json::object{{"error", text::to_json(error)}});
  say_sentence(error.message);
}

void Console::error(std::string_view message, int exit_code) {
  if (!options_.json) return say_sentence(message);
  say(json::object{
      {"error", json::object{{"code", nullptr}, {"message", message}, {"exit_code", exit_code}}}});
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
