// SPDX-License-Identifier: Apache-2.0
#include "cli/watch/screen.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace holdfast::cli {
namespace {

// The other screen, no cursor, no wrapping: a character that is wider than we think must not
// disturb the next line.
constexpr std::string_view take_screen = "\x1b[?1049h\x1b[?25l\x1b[?7l";
constexpr std::string_view give_screen_back = "\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l";
constexpr std::string_view wipe = "\x1b[2J";

}  // namespace

Screen::Screen() {
  tcgetattr(STDIN_FILENO, &usual_);
  enter();
}

Screen::~Screen() { leave(); }

void Screen::enter() {
  auto keys = usual_;
  // Ctrl-C and Ctrl-Z still are signals.
  keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | IEXTEN);
  keys.c_iflag &= ~static_cast<tcflag_t>(IXON | ICRNL);
  keys.c_cc[VMIN] = 1;
  keys.c_cc[VTIME] = 0;
  tcsetattr(STDIN_FILENO, TCSADRAIN, &keys);
  (void)write_all(STDOUT_FILENO, take_screen);
  is_taken_ = true;
  forget();
}

void Screen::leave() {
  if (!is_taken_) return;
  is_taken_ = false;
  (void)write_all(STDOUT_FILENO, give_screen_back);
  tcsetattr(STDIN_FILENO, TCSADRAIN, &usual_);
}

Size Screen::size() const {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) {
    return {};
  }
  return {.rows = size.ws_row, .columns = size.ws_col};
}

bool Screen::show(const std::string& frame) {
  if (frame == last_) return true;
  const bool is_new = last_.empty();
  last_ = frame;
  return write_all(STDOUT_FILENO, (is_new ? std::string(wipe) : std::string()) + frame) == 0;
}

bool has_screen() {
  const char* terminal = std::getenv("TERM");
  if (terminal == nullptr || std::string_view(terminal) == "dumb") return false;
  return isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1;
}

}  // namespace holdfast::cli
