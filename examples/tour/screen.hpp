// SPDX-License-Identifier: Apache-2.0
//
// What the tour looks like. On a terminal it has colours and a line at the bottom that is drawn
// again and again; anywhere else, and with NO_COLOR, there are plain lines only.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace tour {

enum class Style : unsigned char { plain, bold, dim, good, bad };

class Screen {
 public:
  Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;
  ~Screen();

  void title(std::string_view text);
  // Starts the clock that is shown in front of every line.
  void scene(std::string_view heading, std::string_view explanation);
  void line(std::string_view who, std::string_view text, Style style = Style::plain);
  void note(std::string_view text, Style style = Style::plain);
  // Replaced by the next call; shown on a terminal only.
  void live(std::string_view text);

 private:
  std::string styled(Style style, std::string_view text) const;
  std::string named(std::string_view who) const;
  std::string clock() const;
  void clear_live();

  const bool is_terminal_;
  const bool has_colours_;
  bool has_live_line_ = false;
  std::chrono::steady_clock::time_point scene_began_;
};

}  // namespace tour
