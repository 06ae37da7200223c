// SPDX-License-Identifier: Apache-2.0
#include "forrst/urn.hpp"

#include <holdfast/forrst/function.hpp>
#include <holdfast/forrst/service.hpp>

#include "text/ascii.hpp"

#include <algorithm>

namespace holdfast::forrst {

namespace {

constexpr std::string_view names[extension_count] = {"atomic-lock", "deadline", "idempotency",
                                                     "rate-limit", "retry"};

constexpr std::string_view with_vendor = "urn:cline:forrst:ext:";
constexpr std::string_view without_vendor = "urn:forrst:ext:";

using text::is_digit;
using text::is_lower;
using text::is_upper;

// "atomic-lock" as "atomicLock".
std::string camel_case(std::string_view kebab) {
  std::string out;
  for (std::size_t at = 0; at < kebab.size(); ++at) {
    const bool begins_word = kebab[at] == '-' && at + 1 < kebab.size() && is_lower(kebab[at + 1]);
    out += begins_word ? static_cast<char>(kebab[++at] - 'a' + 'A') : kebab[at];
  }
  return out;
}

bool is_kebab(std::string_view part) {
  return !part.empty() && is_lower(part.front()) && std::ranges::all_of(part, [](char each) {
    return is_lower(each) || is_digit(each) || each == '-';
  });
}

// The pages that leave the vendor out write "atomicLock".
bool is_kebab_or_camel(std::string_view part) {
  return !part.empty() && is_lower(part.front()) && std::ranges::all_of(part, [](char each) {
    return is_lower(each) || is_upper(each) || is_digit(each) || each == '-';
  });
}

bool is_urn_word(std::string_view word) {
  const auto is_letter = [](char each) { return is_lower(each) || is_upper(each); };
  return !word.empty() && is_letter(word.front()) && std::ranges::all_of(word, [&](char each) {
    return is_letter(each) || is_digit(each) || each == '_' || each == '-';
  });
}

// Whether there are parts between the separators, and all of them are as they should be.
template <typename IsPart>
bool all_parts(std::string_view text, char separator, IsPart is_part) {
  while (true) {
    const auto end = text.find(separator);
    if (!is_part(text.substr(0, end))) return false;
    if (end == std::string_view::npos) return true;
    text.remove_prefix(end + 1);
  }
}

bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

bool take_kind(std::string_view& text) {
  return take(text, "forrst:ext:") || take(text, "forrst:fn:");
}

}  // namespace

std::string_view name_of(Extension extension) noexcept {
  return names[static_cast<std::size_t>(extension)];
}

std::optional<Extension> extension_named(std::string_view name) {
  const auto* const found = std::ranges::find(names, name);
  if (found == std::end(names)) return std::nullopt;
  return static_cast<Extension>(found - std::begin(names));
}

std::optional<Extension> known_extension(std::string_view urn) {
  auto name = urn;
  if (take(name, with_vendor)) return extension_named(name);
  if (!take(name, without_vendor)) return std::nullopt;
  if (const auto known = extension_named(name)) return known;
  const auto* const found =
      std::ranges::find_if(names, [&](std::string_view each) { return camel_case(each) == name; });
  if (found == std::end(names)) return std::nullopt;
  return static_cast<Extension>(found - std::begin(names));
}

std::string urn_of(Extension extension) {
  return std::string(with_vendor).append(name_of(extension));
}

std::vector<std::string> urns_of(Extension extension) {
  const auto name = name_of(extension);
  std::vector<std::string> all{urn_of(extension), std::string(without_vendor).append(name)};
  // A name of one word is the same in both spellings.
  if (const auto camel = camel_case(name); camel != name) {
    all.push_back(std::string(without_vendor).append(camel));
  }
  return all;
}

bool is_urn(std::string_view text) {
  if (text.size() > max_urn_bytes || !take(text, "urn:")) return false;
  if (take_kind(text)) return all_parts(text, ':', is_kebab_or_camel);
  const auto end = text.find(':');
  if (end == std::string_view::npos || !is_kebab(text.substr(0, end))) return false;
  text.remove_prefix(end + 1);
  return take_kind(text) && all_parts(text, ':', is_kebab);
}

bool is_function_name(std::string_view text) {
  if (text.size() > max_function_bytes) return false;
  return is_urn(text) || all_parts(text, '.', is_urn_word);
}

bool is_reserved_function(std::string_view name) {
  return name.starts_with("forrst.") || name.starts_with("urn:cline:") ||
         name.starts_with("urn:forrst:");
}

}  // namespace holdfast::forrst
