// SPDX-License-Identifier: Apache-2.0
#include "cli/hide_secrets.hpp"

#include "text/url.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

namespace holdfast::cli {
namespace {

constexpr std::string_view with_value = "--store=";

void hide(char* url) {
  const std::string_view text = url;
  // Most words have no place for a secret, and a program that runs for a millisecond looks at all.
  if (text.find_first_of("@?") == std::string_view::npos) return;
  const auto masked = text::masked(text);
  const auto kept = std::min(masked.size(), text.size());
  const auto size = text.size();
  std::memcpy(url, masked.data(), kept);
  std::memset(url + kept, '\0', size - kept);
}

}  // namespace

void hide_secrets(std::span<char*> words) {
  bool is_ours = true;
  bool is_value = false;
  for (char* word : words) {
    const std::string_view text = word;
    const bool has_value = text.starts_with(with_value);
    if (has_value) {
      hide(word + with_value.size());
    } else if (is_ours || is_value) {
      hide(word);
    }
    is_value = text == "--store";
    if (text == "--") is_ours = false;
  }
}

}  // namespace holdfast::cli
