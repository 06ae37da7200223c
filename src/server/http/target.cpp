// SPDX-License-Identifier: Apache-2.0
#include "server/http/target.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace holdfast::server {

namespace {

int hex_value(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

Result<std::string> decoded(std::string_view text) {
  std::string spaced(text);
  std::ranges::replace(spaced, '+', ' ');
  auto plain = percent_decoded(spaced);
  if (plain) return std::move(*plain);
  return fail(Errc::bad_input, "query: a % must be followed by two hexadecimal digits");
}

}  // namespace

std::optional<Segments> split_path(std::string_view path) {
  if (!path.starts_with('/')) return std::nullopt;
  Segments segments;
  path.remove_prefix(1);
  for (;;) {
    if (segments.size() == max_segments) return std::nullopt;
    const auto slash = path.find('/');
    segments.push_back(path.substr(0, slash));
    if (slash == std::string_view::npos) return segments;
    path.remove_prefix(slash + 1);
  }
}

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      out.push_back(text[at]);
      continue;
    }
    if (at + 2 >= text.size()) return std::nullopt;
    const int high = hex_value(text[at + 1]);
    const int low = hex_value(text[at + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    out.push_back(static_cast<char>(high * 16 + low));
    at += 2;
  }
  return out;
}

Result<Query> parse_query(std::string_view query) {
  Query out;
  while (!query.empty()) {
    const auto end = std::min(query.find('&'), query.size());
    const auto pair = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    if (pair.empty()) continue;
    const auto equals = std::min(pair.find('='), pair.size());
    auto name = decoded(pair.substr(0, equals));
    if (!name) return std::unexpected(std::move(name.error()));
    auto value = decoded(pair.substr(std::min(equals + 1, pair.size())));
    if (!value) return std::unexpected(std::move(value.error()));
    if (!out.emplace(std::move(*name), std::move(*value)).second) {
      return fail(Errc::bad_input, fmt::format("query: the same name stands twice"));
    }
  }
  return out;
}

}  // namespace holdfast::server
