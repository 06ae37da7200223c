// SPDX-License-Identifier: Apache-2.0
#include "text/quorum_url.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace holdfast::text {

namespace {

constexpr std::string_view beginning = "redlock://";
constexpr std::string_view usual_scheme = "redis://";

bool begins_alike(std::string_view text, std::string_view start) {
  return text.size() >= start.size() &&
         std::ranges::equal(text.substr(0, start.size()), start, [](char a, char b) {
           return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
         });
}

Result<StoreUrl> parse_member(std::string_view text) {
  const bool has_scheme = text.find("://") != std::string_view::npos;
  auto member =
      parse_store_url(has_scheme ? std::string(text) : fmt::format("{}{}", usual_scheme, text));
  if (!member) return member;
  if (member->scheme != "redis" && member->scheme != "rediss") {
    return fail(Errc::bad_input, fmt::format("store: redlock: members are redis: or rediss:, not "
                                             "'{}:'",
                                             member->scheme));
  }
  // A socket file is written out as redis:///PATH: "/1" alone is a database whose host is missing.
  if (member->endpoints.empty() && !has_scheme) {
    return fail(Errc::bad_input, "store: redlock: a member has no host");
  }
  return member;
}

}  // namespace

bool is_quorum_url(std::string_view url) { return begins_alike(url, beginning); }

Result<QuorumUrl> parse_quorum_url(std::string_view url) {
  if (url.size() > max_url_bytes) {
    return fail(Errc::bad_input, fmt::format("URL must be at most {} bytes long; this one has {}",
                                             max_url_bytes, url.size()));
  }
  const auto mark = std::min(url.find('?'), url.size());
  auto rest = url.substr(beginning.size(), mark - beginning.size());
  // The options alone, as those of a URL that is good otherwise.
  auto options = parse_store_url(fmt::format("{}host{}", beginning, url.substr(mark)));
  if (!options) return std::unexpected(std::move(options.error()));
  QuorumUrl out{.scheme = "redlock", .members = {}, .options = std::move(options->options)};
  while (true) {
    const auto comma = rest.find(',');
    if (rest.substr(0, comma).empty()) {
      return fail(Errc::bad_input, fmt::format("URL '{}' has an empty member", masked(url)));
    }
    const auto text = rest.substr(0, comma);
    auto member = parse_member(text);
    // Without a user it may be a part of a password, where somebody wrote a comma.
    if (!member && url.contains('@') && !text.contains('@')) {
      return fail(Errc::bad_input, fmt::format("URL '{}' has a malformed member (a comma in a "
                                               "password is %2C)",
                                               masked(url)));
    }
    if (!member) return std::unexpected(std::move(member.error()));
    out.members.push_back(std::move(*member));
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  return out;
}

Result<void> check_store_url(std::string_view url) {
  if (is_quorum_url(url)) {
    auto quorum = parse_quorum_url(url);
    return quorum ? Result<void>{} : std::unexpected(std::move(quorum.error()));
  }
  auto one = parse_store_url(url);
  return one ? Result<void>{} : std::unexpected(std::move(one.error()));
}

}  // namespace holdfast::text
