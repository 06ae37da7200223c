// SPDX-License-Identifier: Apache-2.0
#include "text/url.hpp"

#include "text/quote.hpp"

#include <boost/url/authority_view.hpp>
#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

namespace holdfast::text {
namespace {

namespace urls = boost::urls;

constexpr std::string_view mask = "***";

// Where the authority lies in a URL: between "//" and the next "/", "?" or "#".
struct Authority {
  std::size_t begin;
  std::size_t end;
};

std::optional<Authority> find_authority(std::string_view url) {
  const auto colon = url.find(':');
  if (colon == std::string_view::npos || url.substr(colon + 1, 2) != "//") return std::nullopt;
  const auto begin = colon + 3;
  return Authority{begin, std::min(url.find_first_of("/?#", begin), url.size())};
}

bool has_control_character(std::string_view text) {
  return std::ranges::any_of(
      text, [](char byte) { return static_cast<unsigned char>(byte) < 0x20 || byte == 0x7f; });
}

// RFC 3986 knows one host per URL; a quorum has several, separated by commas behind the user. The
// first stays in the URL, the others are taken out and read by themselves.
struct Split {
  std::string url;
  std::vector<std::string> other_hosts;
};

Split split_hosts(std::string_view url) {
  const auto authority = find_authority(url);
  if (!authority) return {std::string(url), {}};
  const auto text = url.substr(authority->begin, authority->end - authority->begin);
  const auto at = text.rfind('@');
  const auto hosts_begin = at == std::string_view::npos ? 0 : at + 1;
  Split split;
  auto comma = text.find(',', hosts_begin);
  split.url = std::string(url.substr(0, authority->begin)) + std::string(text.substr(0, comma)) +
              std::string(url.substr(authority->end));
  while (comma != std::string_view::npos) {
    const auto next = text.find(',', comma + 1);
    split.other_hosts.emplace_back(text.substr(comma + 1, next - comma - 1));
    comma = next;
  }
  return split;
}

// Boost.URL 1.81 takes "//host:word" for an empty port and a path, which would make a path of a
// password. A path behind a host begins with a slash.
std::optional<urls::url_view> parse_strictly(const std::string& url) {
  const auto parsed = urls::parse_uri(url);
  if (!parsed) return std::nullopt;
  const std::string_view path = parsed->encoded_path();
  if (parsed->has_authority() && !path.empty() && !path.starts_with('/')) return std::nullopt;
  return *parsed;
}

// Boost.URL 1.81 cuts numbers above 65535 to 16 bits.
std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (failure != std::errc() || end != text.data() + text.size() || port == 0) return std::nullopt;
  return port;
}

class Parser {
 public:
  explicit Parser(std::string_view url) : url_(url) {}

  Result<StoreUrl> run() {
    const auto split = split_hosts(url_);
    const auto parsed = parse_strictly(split.url);
    if (!parsed) {
      return refuse(
          "is malformed (SCHEME:PATH or SCHEME://HOST/PATH?OPTION=VALUE is expected, "
          "with spaces and the like percent-encoded)");
    }
    if (parsed->has_fragment()) return refuse("must not have a #fragment");
    StoreUrl out;
    out.scheme = lower(parsed->scheme());
    out.user = parsed->user();
    out.password = parsed->password();
    out.path = parsed->path();
    if (auto read = read_endpoints(*parsed, split.other_hosts, out); !read) return error_of(read);
    if (auto read = read_options(*parsed, out); !read) return error_of(read);
    if (has_control_character(out.user + out.password + out.path)) {
      return refuse("must not contain control characters");
    }
    return out;
  }

 private:
  std::unexpected<Error> refuse(std::string_view reason) const {
    return fail(Errc::bad_input, fmt::format("URL {} {}", quoted(masked(url_)), reason));
  }

  static std::unexpected<Error> error_of(Result<void>& result) {
    return std::unexpected(std::move(result.error()));
  }

  static std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out) {
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return out;
  }

  Result<void> read_endpoints(const urls::url_view& url, const std::vector<std::string>& others,
                              StoreUrl& out) const {
    const auto first = url.encoded_host();
    if (first.empty() && others.empty() && !url.has_port()) return {};
    if (auto added = add_endpoint(url.authority(), out); !added) return added;
    for (const auto& other : others) {
      const auto authority = urls::parse_authority(other);
      if (authority.has_error())
        return refuse(fmt::format("has a malformed host {}", quoted(other)));
      if (auto added = add_endpoint(*authority, out); !added) return added;
    }
    return {};
  }

  Result<void> add_endpoint(const urls::authority_view& authority, StoreUrl& out) const {
    std::string host = authority.host_address();
    if (host.empty()) return refuse("has an empty host");
    if (has_control_character(host)) return refuse("must not contain control characters");
    std::optional<std::uint16_t> port = 0;
    if (authority.has_port()) port = parse_port(authority.port());
    if (!port) return refuse("has a port that is not from 1 to 65535");
    Endpoint endpoint{std::move(host), *port};
    if (std::ranges::find(out.endpoints, endpoint) != out.endpoints.end()) {
      return refuse(fmt::format("names the host {} twice", quoted(endpoint.host)));
    }
    out.endpoints.push_back(std::move(endpoint));
    return {};
  }

  Result<void> read_options(const urls::url_view& url, StoreUrl& out) const {
    for (const auto& option : url.params()) {
      if (option.key.empty()) return refuse("has an option without a name");
      if (!option.has_value || option.value.empty()) {
        return refuse(fmt::format("has the option {} without a value", quoted(option.key)));
      }
      if (has_control_character(option.key) || has_control_character(option.value)) {
        return refuse("must not contain control characters");
      }
      if (!out.options.emplace(option.key, option.value).second) {
        return refuse(fmt::format("has the option {} twice", quoted(option.key)));
      }
    }
    return {};
  }

  std::string_view url_;
};

bool is_secret(std::string_view option) {
  constexpr std::array<std::string_view, 3> words{"password", "token", "secret"};
  return std::ranges::find(words, option) != words.end();
}

std::string mask_options(std::string_view query) {
  std::string out;
  while (!query.empty()) {
    const auto end = std::min(query.find('&'), query.size());
    const auto option = query.substr(0, end);
    const auto name = option.substr(0, option.find('='));
    out += is_secret(name) && name.size() < option.size() ? fmt::format("{}={}", name, mask)
                                                          : std::string(option);
    if (end < query.size()) out += '&';
    query.remove_prefix(std::min(end + 1, query.size()));
  }
  return out;
}

std::string mask_query(std::string_view text) {
  const auto mark = text.find('?');
  if (mark == std::string_view::npos) return std::string(text);
  return std::string(text.substr(0, mark + 1)) + mask_options(text.substr(mark + 1));
}

std::string mask_password(std::string_view text) {
  const auto begin = text.find("//");
  const auto at = text.rfind('@');
  if (begin == std::string_view::npos || at == std::string_view::npos) return std::string(text);
  const auto colon = text.find(':', begin);
  if (colon > at) return std::string(text);
  return fmt::format("{}:{}{}", text.substr(0, colon), mask, text.substr(at));
}

bool is_digits(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// HOST, HOST:PORT or [IPV6]:PORT, with a path or not: nothing that hides a password.
bool is_plain_host(std::string_view text) {
  const auto scheme = text.find("://");
  if (scheme != std::string_view::npos) text.remove_prefix(scheme + 3);
  const auto colon = text.find(':', text.starts_with('[') ? text.find(']') : 0);
  if (colon == std::string_view::npos) return true;
  const auto port = text.substr(colon + 1);
  return is_digits(port.substr(0, port.find('/')));
}

// Where the first member ends. A comma may also stand in a password, if wrongly so: it is the end
// only where nothing of a password can be on either side of it.
std::size_t end_of_member(std::string_view members) {
  for (auto comma = members.find(','); comma != std::string_view::npos;
       comma = members.find(',', comma + 1)) {
    const auto before = members.substr(0, comma);
    const auto after = members.substr(comma + 1);
    if (before.contains('@') || !after.contains('@')) return comma;
    auto user = after.substr(0, after.find('@'));
    user.remove_prefix(user.rfind(',') + 1);
    const bool may_go_on = before.contains(':') && !user.contains(':');
    if (is_plain_host(before) && !may_go_on) return comma;
  }
  return members.size();
}

std::string mask_member(std::string_view member) {
  const auto scheme = member.find("://");
  const auto begin = scheme == std::string_view::npos ? 0 : scheme + 3;
  const auto at = member.rfind('@');
  const auto colon = member.find(':', begin);
  if (at == std::string_view::npos || colon > at) return std::string(member);
  return fmt::format("{}:{}{}", member.substr(0, colon), mask, member.substr(at));
}

constexpr std::string_view quorum_beginning = "redlock://";

bool is_of_a_quorum(std::string_view url) {
  return std::ranges::equal(url.substr(0, quorum_beginning.size()), quorum_beginning,
                            [](char a, char b) { return a == b || a == b - 'a' + 'A'; });
}

// Every member may have a user and a password, and be a URL of its own.
std::string masked_quorum(std::string_view url) {
  const auto mark = std::min(url.find('?'), url.size());
  // A question mark that nobody encoded may belong to a password.
  if (url.substr(mark).contains('@')) return mask_query(mask_password(url));
  std::string out(url.substr(0, quorum_beginning.size()));
  auto rest = url.substr(out.size(), mark - out.size());
  while (!rest.empty()) {
    const auto end = end_of_member(rest);
    out += mask_member(rest.substr(0, end));
    if (end < rest.size()) out += ',';
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return out + mask_query(url.substr(mark));
}

}  // namespace

Result<StoreUrl> parse_store_url(std::string_view url) {
  if (url.empty()) return fail(Errc::bad_input, "URL must not be empty");
  if (url.size() > max_url_bytes) {
    return fail(Errc::bad_input, fmt::format("URL must be at most {} bytes long; this one has {}",
                                             max_url_bytes, url.size()));
  }
  return Parser(url).run();
}

std::string masked(std::string_view url) {
  if (is_of_a_quorum(url)) return masked_quorum(url);
  if (!parse_strictly(split_hosts(url).url)) {
    // A slash or question mark that nobody encoded may belong to the password, so here the user
    // ends at the last "@" of all.
    return mask_query(mask_password(url));
  }
  const auto authority = find_authority(url);
  const auto head = authority ? authority->end : 0;
  // The same may be so where it looks like a URL by chance: a user in front and another "@" behind.
  const auto at = url.rfind('@');
  if (at != std::string_view::npos && at >= head && url.substr(0, head).contains('@')) {
    return mask_query(mask_password(url));
  }
  return mask_password(url.substr(0, head)) + mask_query(url.substr(head));
}

}  // namespace holdfast::text
