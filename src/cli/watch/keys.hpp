// SPDX-License-Identifier: Apache-2.0
//
// From the bytes of a terminal to keys.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace holdfast::cli {

struct Key {
  enum class What {
    text,  // a character, in `text`
    up,
    down,
    page_up,
    page_down,
    home,
    end,
    enter,
    backspace,
    escape,
    other,  // one that means nothing here
  };
  What what = What::other;
  std::string text{};
  friend bool operator==(const Key&, const Key&) = default;
};

class KeyReader {
 public:
  // The keys that are complete by now.
  std::vector<Key> feed(std::string_view bytes);
  // True if what came last may go on: the Esc of a person, or the beginning of an arrow.
  bool is_undecided() const { return !rest_.empty(); }
  // Nothing more came for a while: what is there is all.
  std::vector<Key> settle();

 private:
  std::string rest_;
};

}  // namespace holdfast::cli
