// SPDX-License-Identifier: Apache-2.0
#include "server/auth/principal.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::server {
namespace {

constexpr std::pair<Verb, std::string_view> words[] = {
    {Verb::read, "read"}, {Verb::lock, "lock"}, {Verb::admin, "admin"}};

}  // namespace

std::string_view to_string(Verb verb) { return words[static_cast<std::size_t>(verb)].second; }

std::string to_string(const Verbs& verbs) {
  std::string out;
  for (const auto& [verb, word] : words) {
    if (!verbs.has(verb)) continue;
    if (!out.empty()) out += ',';
    out += word;
  }
  return out;
}

std::optional<Verb> parse_verb(std::string_view word) {
  for (const auto& [verb, known] : words) {
    if (word == known) return verb;
  }
  return std::nullopt;
}

bool Principal::may(Verb verb, std::string_view lock_name) const {
  if (!may(verb)) return false;
  const auto covers = [&](const std::string& prefix) { return lock_name.starts_with(prefix); };
  return prefixes.empty() || std::ranges::any_of(prefixes, covers);
}

const std::shared_ptr<const Principal>& Principal::everybody() {
  static const std::shared_ptr<const Principal> one = [] {
    Principal anonymous;
    anonymous.name = anonymous_name;
    anonymous.verbs = {Verb::admin};
    return std::make_shared<const Principal>(std::move(anonymous));
  }();
  return one;
}

}  // namespace holdfast::server
