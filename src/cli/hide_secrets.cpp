// SPDX-License-Identifier: Apache-2.0
#include "cli/hide_secrets.hpp"

#include "text/url.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast::cli {
namespace {

constexpr std::string_view mask = "***";

void overwrite(char* word, std::string_view by) {
  const auto size = std::strlen(word);
  const auto kept = std::min(by.size(), size);
  std::memcpy(word, by.data(), kept);
  std::memset(word + kept, '\0', size - kept);
}

void hide_password(char* url) {
  const std::string_view text = url;
  // Most words have no place for a secret, and a program that runs for a millisecond looks at all.
  if (text.find_first_of("@?") == std::string_view::npos) return;
  overwrite(url, text::masked(text));
}

void hide_all(char* token) { overwrite(token, mask); }

struct SecretOption {
  std::string_view name;
  void (*hide)(char*);
};

constexpr SecretOption secret_options[] = {{"--store", hide_password}, {"--owner", hide_all}};

// The value of OPTION=VALUE, or null.
char* value_in(char* word, std::string_view option) {
  const std::string_view text = word;
  const bool is_it = text.starts_with(option) && text.substr(option.size()).starts_with('=');
  return is_it ? word + option.size() + 1 : nullptr;
}

}  // namespace

void hide_secrets(std::span<char*> words) {
  bool is_ours = true;
  const SecretOption* before = nullptr;
  for (char* word : words) {
    const auto* const option = std::exchange(before, nullptr);
    if (option != nullptr) {
      option->hide(word);
      continue;
    }
    if (std::string_view(word) == "--") is_ours = false;
    for (const auto& secret : secret_options) {
      if (word == secret.name) before = &secret;
      if (char* value = value_in(word, secret.name)) secret.hide(value);
    }
    if (is_ours) hide_password(word);
  }
}

}  // namespace holdfast::cli
