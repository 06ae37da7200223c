// SPDX-License-Identifier: Apache-2.0
#include "cli/watch/keys.hpp"

#include "model/utf8.hpp"

#include <algorithm>
#include <optional>

namespace holdfast::cli {
namespace {

using What = Key::What;

// More bytes than any key has: whoever sends them is no keyboard.
constexpr std::size_t longest_sequence = 32;

What meaning(std::string_view sequence) {
  if (sequence == "A") return What::up;
  if (sequence == "B") return What::down;
  if (sequence == "H" || sequence == "1~" || sequence == "7~") return What::home;
  if (sequence == "F" || sequence == "4~" || sequence == "8~") return What::end;
  if (sequence == "5~") return What::page_up;
  if (sequence == "6~") return What::page_down;
  return What::other;
}

struct Taken {
  Key key;
  std::size_t bytes = 1;
};

// Behind "\x1b[" or "\x1bO": parameters, then one letter or "~".
std::optional<Taken> take_sequence(std::string_view bytes) {
  for (std::size_t i = 2; i < bytes.size(); ++i) {
    const bool ends = bytes[i] >= 0x40 && bytes[i] <= 0x7e;
    if (ends) return Taken{{meaning(bytes.substr(2, i - 1))}, i + 1};
    if (i > longest_sequence) return Taken{{What::other}, i + 1};
  }
  return std::nullopt;
}

std::optional<Taken> take_text(std::string_view bytes) {
  const auto point = model::first_code_point(bytes);
  if (point.bytes > 0)
    return Taken{{What::text, std::string(bytes.substr(0, point.bytes))}, point.bytes};
  // A character may come in pieces; what is no beginning of one is dropped.
  const auto first = static_cast<unsigned char>(bytes.front());
  const std::size_t whole = first > 0xf4    ? 1
                            : first >= 0xf0 ? 4
                            : first >= 0xe0 ? 3
                            : first >= 0xc2 ? 2
                                            : 1;
  const auto continues = [](unsigned char byte) { return (byte & 0xc0U) == 0x80U; };
  if (bytes.size() < whole && std::ranges::all_of(bytes.substr(1), continues)) return std::nullopt;
  return Taken{{What::other}, 1};
}

std::optional<Taken> take_key(std::string_view bytes) {
  const auto first = static_cast<unsigned char>(bytes.front());
  if (first == 0x1b) {
    if (bytes.size() == 1) return std::nullopt;
    if (bytes[1] == '[' || bytes[1] == 'O') return take_sequence(bytes);
    return Taken{{What::escape}, 1};
  }
  if (first == '\r' || first == '\n') return Taken{{What::enter}, 1};
  if (first == 0x7f || first == 0x08) return Taken{{What::backspace}, 1};
  if (first < 0x20) return Taken{{What::other}, 1};
  return take_text(bytes);
}

}  // namespace

std::vector<Key> KeyReader::feed(std::string_view bytes) {
  rest_ += bytes;
  std::vector<Key> keys;
  while (!rest_.empty()) {
    auto taken = take_key(rest_);
    if (!taken) break;
    keys.push_back(std::move(taken->key));
    rest_.erase(0, taken->bytes);
  }
  return keys;
}

std::vector<Key> KeyReader::settle() {
  if (rest_.empty()) return {};
  const auto what = rest_ == "\x1b" ? What::escape : What::other;
  rest_.clear();
  return {{what}};
}

}  // namespace holdfast::cli
