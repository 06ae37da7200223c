// SPDX-License-Identifier: Apache-2.0
#include "server/auth/token_line.hpp"

#include <holdfast/names.hpp>

#include "server/auth/secret.hpp"
#include "text/ascii.hpp"
#include "text/quote.hpp"
#include "text/rfc3339.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace holdfast::server {
namespace {

using text::is_letter_or_digit;
using text::quoted;

constexpr std::string_view blanks = " \t";
constexpr std::string_view expires_key = "expires=";

std::unexpected<Error> refuse(std::string reason) {
  return fail(Errc::bad_input, std::move(reason));
}

std::vector<std::string_view> split_fields(std::string_view line) {
  std::vector<std::string_view> fields;
  while (true) {
    const auto begin = line.find_first_not_of(blanks);
    if (begin == std::string_view::npos) return fields;
    line.remove_prefix(begin);
    fields.push_back(line.substr(0, line.find_first_of(blanks)));
    line.remove_prefix(fields.back().size());
  }
}

// At least one part, which may be empty.
std::vector<std::string_view> split_at_commas(std::string_view text) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto end = text.find(',');
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::optional<unsigned char> decode_pair(std::string_view hex) {
  unsigned value = 0;
  if (hex.size() != 2) return std::nullopt;
  for (const char c : hex) {
    const auto digit = std::string_view("0123456789abcdef0123456789ABCDEF").find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    value = value << 4U | static_cast<unsigned>(digit % 16);
  }
  return static_cast<unsigned char>(value);
}

Result<std::string> decode_prefix(std::string_view encoded) {
  // Whoever writes "deploy:*" believes in patterns, and would wonder why nothing is allowed.
  if (encoded.contains('*')) {
    return refuse(
        fmt::format("prefix {}: * stands alone and means every name; write a prefix "
                    "without it, or %2A for the character",
                    quoted(encoded)));
  }
  std::string prefix;
  for (std::size_t i = 0; i < encoded.size(); ++i) {
    if (encoded[i] != '%') {
      prefix += encoded[i];
      continue;
    }
    const auto byte = decode_pair(encoded.substr(i + 1, 2));
    if (!byte) {
      return refuse(fmt::format("prefix {}: behind % stand two hexadecimal digits; % itself is %25",
                                quoted(encoded)));
    }
    prefix += static_cast<char>(*byte);
    i += 2;
  }
  if (auto checked = check_prefix(prefix); !checked) {
    return std::unexpected(std::move(checked.error()));
  }
  return prefix;
}

std::string encode_prefix(std::string_view prefix) {
  std::string out;
  for (const char c : prefix) {
    const bool is_plain = c > ' ' && c <= '~' && c != '%' && c != ',' && c != '*';
    if (is_plain) {
      out += c;
    } else {
      fmt::format_to(std::back_inserter(out), "%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

Result<std::vector<std::string>> parse_prefixes(std::string_view field) {
  std::vector<std::string> prefixes;
  if (field == "*") return prefixes;
  for (const auto part : split_at_commas(field)) {
    auto prefix = decode_prefix(part);
    if (!prefix) return std::unexpected(std::move(prefix.error()));
    if (std::ranges::find(prefixes, *prefix) != prefixes.end()) {
      return refuse(fmt::format("prefix {} stands twice", quoted(*prefix)));
    }
    if (prefixes.size() == max_token_prefixes) {
      return refuse(fmt::format("a token has at most {} prefixes", max_token_prefixes));
    }
    prefixes.push_back(std::move(*prefix));
  }
  return prefixes;
}

Result<text::WallTime> parse_expires(std::string_view field) {
  if (!field.starts_with(expires_key)) {
    return refuse("the fifth field, if there is one, must be expires=TIME");
  }
  const auto text = field.substr(expires_key.size());
  const auto time = text::parse_rfc3339(text);
  if (!time) {
    return refuse(
        fmt::format("expires must be a time such as 2027-01-31T12:00:00Z; got {}", quoted(text)));
  }
  return *time;
}

}  // namespace

Result<void> check_token_name(std::string_view name) {
  const auto is_allowed = [](char c) {
    return is_letter_or_digit(c) || std::string_view("._@-").contains(c);
  };
  const bool is_good = !name.empty() && name.size() <= max_token_name_bytes &&
                       is_letter_or_digit(name.front()) && std::ranges::all_of(name, is_allowed);
  // Tokens are made of the same characters, and must not be repeated here.
  if (name.starts_with(token_mark)) {
    return refuse("a token's name must not begin with hf_, as tokens do");
  }
  if (!is_good) {
    return refuse(
        fmt::format("a token's name has 1 to {} letters, digits and . _ @ -, and begins "
                    "with a letter or digit",
                    max_token_name_bytes));
  }
  if (name == anonymous_name) {
    return refuse("a token cannot be called anonymous: so are those who have none");
  }
  return {};
}

Result<Verbs> parse_verbs(std::string_view words) {
  Verbs verbs;
  std::vector<Verb> seen;
  for (const auto word : split_at_commas(words)) {
    const auto verb = parse_verb(word);
    if (!verb) {
      return refuse(
          fmt::format("verbs are read, lock and admin, separated by commas; got {}", quoted(word)));
    }
    if (std::ranges::find(seen, *verb) != seen.end()) {
      return refuse(fmt::format("verb {} stands twice", word));
    }
    seen.push_back(*verb);
    verbs.add(*verb);
  }
  return verbs;
}

Result<void> check_prefix(std::string_view prefix) {
  if (prefix.empty()) return refuse("a prefix must not be empty; * means every name");
  // What no name may hold would never match, and was meant to be something else.
  if (const auto name = LockName::make(prefix); !name) {
    return refuse(fmt::format("prefix {} cannot begin a lock's name: {}", quoted(prefix),
                              name.error().message));
  }
  return {};
}

Result<Principal> parse_token_line(std::string_view line) {
  const auto fields = split_fields(line);
  if (fields.size() < 4 || fields.size() > 5) {
    return refuse(
        fmt::format("a line has the fields NAME SHA256 VERBS PREFIXES, and perhaps "
                    "expires=TIME; this one has {}",
                    fields.size()));
  }
  Principal principal;
  if (auto checked = check_token_name(fields[0]); !checked) {
    return std::unexpected(std::move(checked.error()));
  }
  principal.name = fields[0];
  const auto hash = parse_hash(fields[1]);
  if (!hash) return refuse("the second field must be the SHA-256 of the token, 64 hex digits");
  principal.secret_hash = *hash;
  const auto verbs = parse_verbs(fields[2]);
  if (!verbs) return std::unexpected(verbs.error());
  principal.verbs = *verbs;
  auto prefixes = parse_prefixes(fields[3]);
  if (!prefixes) return std::unexpected(std::move(prefixes.error()));
  principal.prefixes = std::move(*prefixes);
  if (fields.size() == 5) {
    const auto expires = parse_expires(fields[4]);
    if (!expires) return std::unexpected(expires.error());
    principal.expires = *expires;
  }
  return principal;
}

std::string format_prefixes(const std::vector<std::string>& prefixes) {
  if (prefixes.empty()) return "*";
  std::string out;
  for (const auto& prefix : prefixes) {
    if (!out.empty()) out += ',';
    out += encode_prefix(prefix);
  }
  return out;
}

std::string format_token_line(const Principal& principal) {
  auto line = fmt::format("{} {} {} {}", principal.name, to_hex(principal.secret_hash),
                          to_string(principal.verbs), format_prefixes(principal.prefixes));
  if (principal.expires)
    line += fmt::format(" {}{}", expires_key, text::format_time(*principal.expires));
  return line;
}

}  // namespace holdfast::server
