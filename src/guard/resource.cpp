// SPDX-License-Identifier: Apache-2.0
#include "guard/resource.hpp"

#include "text/ascii.hpp"
#include "text/quote.hpp"

#include <boost/beast/core/string.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace holdfast::guard {

namespace {

std::optional<unsigned> hex_digit(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return std::nullopt;
}

// Means the same with and without an escape (RFC 3986).
bool is_unreserved(unsigned char byte) {
  return text::is_letter_or_digit(static_cast<char>(byte)) || byte == '-' || byte == '.' ||
         byte == '_' || byte == '~';
}

bool is_http_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char byte) {
    return text::is_letter_or_digit(static_cast<char>(byte)) ||
           std::string_view("!#$%&'*+-.^_`|~").contains(byte);
  });
}

void append_escaped(unsigned byte, std::string& out) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  out += {'%', digits[byte >> 4U], digits[byte & 15U]};
}

Result<std::string> normalised(std::string_view path) {
  // Which program takes "a/../b" for what is not known here.
  std::string out;
  out.reserve(path.size());
  for (std::size_t at = 0; at < path.size(); ++at) {
    const auto byte = static_cast<unsigned char>(path[at]);
    if (byte != '%') {
      byte < 0x80 ? static_cast<void>(out += path[at]) : append_escaped(byte, out);
      continue;
    }
    const auto high = at + 2 < path.size() ? hex_digit(path[at + 1]) : std::nullopt;
    const auto low = at + 2 < path.size() ? hex_digit(path[at + 2]) : std::nullopt;
    if (!high || !low) return fail(Errc::bad_input, "path: a % must begin an escape such as %2F");
    const unsigned value = *high * 16 + *low;
    is_unreserved(static_cast<unsigned char>(value))
        ? static_cast<void>(out += static_cast<char>(value))
        : append_escaped(value, out);
    at += 2;
  }
  return out;
}

Result<std::string> path_resource(std::string_view path) {
  auto clean = normalised(path);
  if (!clean) return clean;
  for (std::size_t at = 0; at != std::string::npos; at = clean->find('/', at)) {
    const auto rest = std::string_view(*clean).substr(++at);
    const auto segment = rest.substr(0, rest.find('/'));
    if (segment == "." || segment == "..") {
      return fail(Errc::bad_input, "path: must have no segment . or .., to be one resource");
    }
    // Many services take // for /, and an escaped slash for a slash: other names for the same
    // thing.
    if (segment.empty() && segment.size() != rest.size()) {
      return fail(Errc::bad_input, "path: must have no empty segment, to be one resource");
    }
  }
  if (clean->contains("%2F") || clean->contains("%5C") || clean->contains('\\')) {
    return fail(Errc::bad_input,
                "path: must have no escaped slash or backslash, to be one resource");
  }
  return clean;
}

Result<std::string> prefix_resource(std::size_t segments, std::string_view path) {
  auto clean = path_resource(path);
  if (!clean) return clean;
  std::size_t end = 0;
  for (std::size_t count = 0; count < segments; ++count) {
    end = clean->find('/', end + 1);
    if (end == std::string::npos) return clean;
  }
  return clean->substr(0, end);
}

Result<std::string> header_resource(const std::string& name, const net::http::Request& request) {
  std::string_view value;
  std::size_t count = 0;
  for (const auto& each : request.headers) {
    if (!boost::beast::iequals(each.name, name)) continue;
    value = each.value;
    ++count;
  }
  if (count != 1 || value.empty()) {
    return fail(Errc::bad_input, fmt::format("{}: must be given once, and not be empty: it names "
                                             "the resource",
                                             name));
  }
  return std::string(value);
}

}  // namespace

Result<ResourceRule> parse_resource_rule(std::string_view text) {
  constexpr std::string_view header = "header:";
  constexpr std::string_view prefix = "path-prefix:";
  if (text == "path") return ResourceRule{};
  if (text == "host") return ResourceRule{.by = ResourceRule::By::host};
  if (text.starts_with(header) && is_http_token(text.substr(header.size()))) {
    return ResourceRule{.by = ResourceRule::By::header,
                        .header = std::string(text.substr(header.size()))};
  }
  if (text.starts_with(prefix)) {
    const auto digits = text.substr(prefix.size());
    std::size_t segments = 0;
    const auto [end, failed] =
        std::from_chars(digits.data(), digits.data() + digits.size(), segments);
    const bool is_number = failed == std::errc() && end == digits.data() + digits.size();
    if (is_number && segments >= 1 && segments <= max_prefix_segments) {
      return ResourceRule{.by = ResourceRule::By::path_prefix, .segments = segments};
    }
  }
  return fail(Errc::bad_input,
              fmt::format("--resource: {} must be path, host, header:NAME or path-prefix:N, with N "
                          "from 1 to {}",
                          text::quoted(text), max_prefix_segments));
}

Result<std::string> resource_of(const ResourceRule& rule, const net::http::Request& request) {
  switch (rule.by) {
    case ResourceRule::By::path: return path_resource(request.path);
    case ResourceRule::By::path_prefix: return prefix_resource(rule.segments, request.path);
    case ResourceRule::By::header: return header_resource(rule.header, request);
    case ResourceRule::By::host: break;
  }
  std::string host(request.host);
  std::ranges::transform(host, host.begin(), [](char each) {
    return each >= 'A' && each <= 'Z' ? static_cast<char>(each + 32) : each;
  });
  return host;
}

}  // namespace holdfast::guard
