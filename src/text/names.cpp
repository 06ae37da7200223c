// SPDX-License-Identifier: Apache-2.0
#include <holdfast/names.hpp>

#include "model/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace holdfast {
namespace {

bool is_control(char32_t value) { return value < 0x20 || (value >= 0x7f && value <= 0x9f); }

bool is_line_separator(char32_t value) { return value == 0x2028 || value == 0x2029; }

// The messages never quote the text: an owner is a secret, and a name that breaks these rules may
// break a terminal too.
Result<void> check_code_points(std::string_view field, std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto point = model::first_code_point(text.substr(at));
    if (point.bytes == 0) {
      return fail(Errc::bad_input, fmt::format("{} must be UTF-8; byte {} is not", field, at));
    }
    if (is_control(point.value) || is_line_separator(point.value)) {
      return fail(Errc::bad_input,
                  fmt::format("{} must not contain control characters or line separators; "
                              "byte {} begins U+{:04X}",
                              field, at, static_cast<std::uint32_t>(point.value)));
    }
    at += point.bytes;
  }
  return {};
}

struct Field {
  std::string_view name;
  std::size_t max_bytes;
};

Result<void> check(Field field, std::string_view text) {
  if (text.empty()) return fail(Errc::bad_input, fmt::format("{} must not be empty", field.name));
  if (text.size() > field.max_bytes) {
    return fail(Errc::bad_input, fmt::format("{} must be at most {} bytes long; this one has {}",
                                             field.name, field.max_bytes, text.size()));
  }
  if (model::is_printable_ascii(text)) return {};
  return check_code_points(field.name, text);
}

// Both digits of every byte, so that a fresh owner costs sixteen loads.
constexpr auto hex_pairs = [] {
  constexpr std::string_view digits = "0123456789abcdef";
  std::array<std::array<char, 2>, 256> pairs{};
  for (std::size_t byte = 0; byte < pairs.size(); ++byte) {
    pairs[byte] = {digits[byte >> 4U], digits[byte & 0xfU]};
  }
  return pairs;
}();

void write_hex(std::uint64_t number, char* out) {
  for (int shift = 56; shift >= 0; shift -= 8) {
    const auto& pair = hex_pairs[(number >> static_cast<unsigned>(shift)) & 0xffU];
    *out++ = pair[0];
    *out++ = pair[1];
  }
}

}  // namespace

Result<LockName> LockName::make(std::string_view text) {
  if (auto checked = check({"name", max_name_bytes}, text); !checked) {
    return std::unexpected(std::move(checked.error()));
  }
  return LockName(text);
}

Result<OwnerId> OwnerId::make(std::string_view text) {
  if (auto checked = check({"owner", max_owner_bytes}, text); !checked) {
    return std::unexpected(std::move(checked.error()));
  }
  return OwnerId(text);
}

OwnerId::OwnerId(std::string_view text) {
  if (text.size() > short_bytes) {
    long_ = std::make_shared<const std::string>(text);
    return;
  }
  short_size_ = static_cast<std::uint8_t>(text.size());
  std::copy(text.begin(), text.end(), short_.begin());
}

OwnerId OwnerId::from_random(std::uint64_t high, std::uint64_t low) {
  std::array<char, 32> digits;
  write_hex(high, digits.data());
  write_hex(low, digits.data() + 16);
  return OwnerId(std::string_view(digits.data(), digits.size()));
}

}  // namespace holdfast
