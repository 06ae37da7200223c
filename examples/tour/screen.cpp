// SPDX-License-Identifier: Apache-2.0
#include "screen.hpp"

#include <unistd.h>

#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <sstream>

namespace tour {

namespace {

constexpr int name_width = 6;

bool colours_wanted() {
  const char* no_colour = std::getenv("NO_COLOR");
  return no_colour == nullptr || *no_colour == '\0';
}

const char* code_of(Style style) {
  switch (style) {
    case Style::bold: return "1";
    case Style::dim: return "2";
    case Style::good: return "32";
    case Style::bad: return "31";
    case Style::plain: break;
  }
  return "0";
}

// Every process keeps its colour: cyan, yellow, blue, magenta, green by its first letter.
const char* colour_of(std::string_view who) {
  constexpr const char* colours[] = {"36", "33", "34", "35", "32"};
  const std::size_t letter = who.empty() ? 0 : static_cast<unsigned char>(who.front() - 'a');
  return colours[letter % std::size(colours)];
}

std::string painted(const char* code, std::string_view text) {
  return std::string("\x1b[") + code + 'm' + std::string(text) + "\x1b[0m";
}

}  // namespace

Screen::Screen()
    : is_terminal_(isatty(STDOUT_FILENO) == 1), has_colours_(is_terminal_ && colours_wanted()) {}

Screen::~Screen() { clear_live(); }

void Screen::title(std::string_view text) {
  clear_live();
  std::cout << '\n' << "  " << styled(Style::bold, text) << '\n' << std::flush;
}

void Screen::scene(std::string_view heading, std::string_view explanation) {
  clear_live();
  std::cout << "\n  " << styled(Style::bold, heading) << "\n  " << styled(Style::dim, explanation)
            << "\n"
            << '\n'
            << std::flush;
  scene_began_ = std::chrono::steady_clock::now();
}

void Screen::line(std::string_view who, std::string_view text, Style style) {
  clear_live();
  std::cout << "  " << styled(Style::dim, clock()) << "  " << named(who) << "  "
            << styled(style, text) << '\n'
            << std::flush;
}

void Screen::note(std::string_view text, Style style) {
  clear_live();
  std::cout << "  " << styled(style, text) << '\n' << std::flush;
}

void Screen::live(std::string_view text) {
  if (!is_terminal_) return;
  clear_live();
  std::cout << "  " << styled(Style::dim, clock()) << "  " << styled(Style::dim, text)
            << std::flush;
  has_live_line_ = true;
}

std::string Screen::styled(Style style, std::string_view text) const {
  if (!has_colours_ || style == Style::plain) return std::string(text);
  return painted(code_of(style), text);
}

std::string Screen::named(std::string_view who) const {
  std::string text(who);
  text.resize(name_width, ' ');
  return has_colours_ ? painted(colour_of(who), text) : text;
}

std::string Screen::clock() const {
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - scene_began_;
  std::ostringstream text;
  text << std::fixed << std::setprecision(2) << std::setw(5) << passed.count() << " s";
  return text.str();
}

void Screen::clear_live() {
  if (has_live_line_) std::cout << "\r\x1b[K" << std::flush;
  has_live_line_ = false;
}

}  // namespace tour
