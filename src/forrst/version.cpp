// SPDX-License-Identifier: Apache-2.0
#include "forrst/version.hpp"

#include "text/ascii.hpp"

#include <algorithm>
#include <charconv>

namespace holdfast::forrst {

namespace {

bool is_number(std::string_view word) { return std::ranges::all_of(word, text::is_digit); }

bool has_needless_zero(std::string_view digits) { return digits.size() > 1 && digits[0] == '0'; }

// Takes the text up to the separator, and the separator with it.
std::string_view take_until(std::string_view& text, char separator) {
  const auto end = std::min(text.find(separator), text.size());
  const auto taken = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return taken;
}

bool is_version_word(std::string_view word) {
  const auto fits = [](char each) { return text::is_letter_or_digit(each) || each == '-'; };
  return !word.empty() && std::ranges::all_of(word, fits);
}

// "beta.1", or what stands behind a plus, where numbers may begin with zeros.
bool are_words(std::string_view text, bool allows_zeros) {
  if (text.ends_with('.')) return false;
  do {
    const auto word = take_until(text, '.');
    if (!is_version_word(word)) return false;
    if (!allows_zeros && is_number(word) && has_needless_zero(word)) return false;
  } while (!text.empty());
  return true;
}

std::optional<std::uint64_t> parse_number(std::string_view digits) {
  std::uint64_t number = 0;
  const auto* const end = digits.data() + digits.size();
  if (digits.empty() || !is_number(digits) || has_needless_zero(digits)) return std::nullopt;
  const auto read = std::from_chars(digits.data(), end, number);
  return read.ec == std::errc() ? std::optional(number) : std::nullopt;
}

// Numbers by value, whatever their length, and before words.
std::strong_ordering compare_words(std::string_view a, std::string_view b) {
  const bool a_is_number = is_number(a);
  if (a_is_number != is_number(b)) {
    return a_is_number ? std::strong_ordering::less : std::strong_ordering::greater;
  }
  if (a_is_number && a.size() != b.size()) return a.size() <=> b.size();
  return a <=> b;
}

std::strong_ordering compare_prereleases(std::string_view a, std::string_view b) {
  while (!a.empty() && !b.empty()) {
    const auto order = compare_words(take_until(a, '.'), take_until(b, '.'));
    if (order != 0) return order;
  }
  return a.size() <=> b.size();
}

}  // namespace

std::string_view to_string(Stability stability) noexcept {
  switch (stability) {
    case Stability::alpha: return "alpha";
    case Stability::beta: return "beta";
    case Stability::rc: return "rc";
    case Stability::stable: return "stable";
  }
  return "alpha";
}

std::optional<Version> Version::parse(std::string_view text) {
  if (text.size() > max_version_bytes) return std::nullopt;
  Version version;
  version.text_ = text;
  if (const auto plus = text.find('+'); plus != std::string_view::npos) {
    if (!are_words(text.substr(plus + 1), true)) return std::nullopt;
    text = text.substr(0, plus);
  }
  if (const auto dash = text.find('-'); dash != std::string_view::npos) {
    version.prerelease_ = text.substr(dash + 1);
    if (!are_words(version.prerelease_, false)) return std::nullopt;
    text = text.substr(0, dash);
  }
  if (std::ranges::count(text, '.') != 2) return std::nullopt;
  for (auto& number : version.numbers_) {
    const auto parsed = parse_number(take_until(text, '.'));
    if (!parsed) return std::nullopt;
    number = *parsed;
  }
  return version;
}

Stability Version::stability() const {
  if (prerelease_.empty()) return Stability::stable;
  if (prerelease_.starts_with("rc")) return Stability::rc;
  if (prerelease_.starts_with("beta")) return Stability::beta;
  return Stability::alpha;
}

std::strong_ordering operator<=>(const Version& a, const Version& b) {
  for (std::size_t i = 0; i < std::size(a.numbers_); ++i) {
    if (a.numbers_[i] != b.numbers_[i]) return a.numbers_[i] <=> b.numbers_[i];
  }
  // What comes before a release is less than the release.
  if (a.prerelease_.empty() != b.prerelease_.empty()) {
    return a.prerelease_.empty() ? std::strong_ordering::greater : std::strong_ordering::less;
  }
  return compare_prereleases(a.prerelease_, b.prerelease_);
}

}  // namespace holdfast::forrst
