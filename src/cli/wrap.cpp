// SPDX-License-Identifier: Apache-2.0
#include "cli/wrap.hpp"

#include <algorithm>

namespace holdfast::cli {
namespace {

// Takes what stands in front of the mark, and the mark.
std::string_view take_until(std::string_view& text, char mark) {
  const auto end = std::min(text.find(mark), text.size());
  const auto part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

class Wrapper {
 public:
  Wrapper(std::size_t indent, std::size_t width) : indent_(indent), width_(width) {}

  void line(std::string_view text) {
    if (text.empty() || text.starts_with(' ')) {
      end_line();
      if (text.empty()) return end_paragraph();
      begin_paragraph();
      out_ += std::string(indent_, ' ') + std::string(text) + '\n';
      return;
    }
    while (!text.empty()) word(take_until(text, ' '));
  }

  std::string finish() {
    end_line();
    return std::move(out_);
  }

 private:
  void word(std::string_view word) {
    if (word.empty()) return;
    if (!line_.empty() && indent_ + columns(line_) + 1 + columns(word) > width_) end_line();
    if (line_.empty()) begin_paragraph();
    if (!line_.empty()) line_ += ' ';
    line_ += word;
  }

  void end_line() {
    if (!line_.empty()) out_ += std::string(indent_, ' ') + line_ + '\n';
    line_.clear();
  }

  void end_paragraph() { is_new_paragraph_ = !out_.empty(); }

  void begin_paragraph() {
    if (is_new_paragraph_) out_ += '\n';
    is_new_paragraph_ = false;
  }

  std::size_t indent_;
  std::size_t width_;
  bool is_new_paragraph_ = false;
  std::string line_;
  std::string out_;
};

}  // namespace

std::size_t columns(std::string_view text) {
  const auto begins_character = [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80U;
  };
  return static_cast<std::size_t>(std::ranges::count_if(text, begins_character));
}

std::string wrapped(std::string_view text, std::size_t indent, std::size_t width) {
  Wrapper wrapper(indent, width);
  while (!text.empty()) wrapper.line(take_until(text, '\n'));
  return wrapper.finish();
}

std::string beside(std::string_view head, std::string_view text, std::size_t from) {
  auto right = wrapped(text, from);
  if (right.empty()) return "  " + std::string(head) + '\n';
  auto left = "  " + std::string(head);
  if (columns(left) + 2 > from) return left + '\n' + right;
  left.append(from - columns(left), ' ');
  return left + right.substr(from);
}

}  // namespace holdfast::cli
