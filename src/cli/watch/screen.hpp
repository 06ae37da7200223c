// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/watch/frame.hpp"

#include <termios.h>

#include <string>

namespace holdfast::cli {

// The terminal on standard input and output while a program has all of it: the other screen, no
// cursor, keys as they are pressed. Given back with this object.
class Screen {
 public:
  Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;
  ~Screen();

  // Takes it, or takes it again after somebody else had it. The next show() draws everything.
  void enter();
  void leave();

  Size size() const;
  // False if the terminal is gone.
  bool show(const std::string& frame);
  // The next show() clears the screen first.
  void forget() { last_.clear(); }

 private:
  termios usual_{};
  bool is_taken_ = false;
  std::string last_;  // what is on it
};

// True if there is a terminal that can show more than lines.
bool has_screen();

}  // namespace holdfast::cli
