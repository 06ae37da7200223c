// SPDX-License-Identifier: Apache-2.0
#include "server/endpoints/patterns/voters.hpp"

#include <holdfast/client.hpp>

#include "open/open.hpp"
#include "runtime/random.hpp"
#include "text/quorum_url.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace holdfast::server::patterns {

namespace {

constexpr std::size_t demo_members = 5;
constexpr std::size_t min_members = 3;

// A host may be called "redis", and "redis:6379" is then a host with its port.
bool begins_with_scheme(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  return std::ranges::any_of(store_schemes(), [text](std::string_view scheme) {
    if (!text.starts_with(scheme)) return false;
    const auto rest = text.substr(scheme.size());
    return rest.starts_with("://") || (rest.starts_with(':') && !scheme.starts_with("redis"));
  });
}

bool has_twins(std::vector<std::string> urls) {
  std::ranges::sort(urls);
  return std::ranges::adjacent_find(urls) != urls.end();
}

// Nobody else in the process has these, and they go away with the server.
std::vector<std::string> demo_urls() {
  const auto unique = runtime::secure_random();
  std::vector<std::string> urls;
  for (std::size_t at = 0; at < demo_members; ++at) {
    urls.push_back(fmt::format("memory:patterns-red-{}-{:016x}", at, unique));
  }
  return urls;
}

// "redis://USER@a:1,b:2/0" → the same URL with either host.
void add_each_host(std::string_view url, std::vector<std::string>& members) {
  const auto slashes = url.find("://");
  const auto authority = slashes == std::string_view::npos ? url.size() : slashes + 3;
  const auto end = std::min(url.find_first_of("/?#", authority), url.size());
  const auto at = url.substr(0, end).rfind('@');
  auto begin = at == std::string_view::npos || at < authority ? authority : at + 1;
  const auto before = url.substr(0, begin);
  for (auto comma = begin; comma != end; begin = comma + 1) {
    comma = std::min(url.find(',', begin), end);
    const auto host = url.substr(begin, comma - begin);
    members.push_back(fmt::format("{}{}{}", before, host, url.substr(end)));
  }
}

std::unexpected<Error> refuse(std::string_view reason) {
  return fail(Errc::bad_input, fmt::format("patterns.redlock.store: {}", reason));
}

// In the guide's words.
std::unexpected<Error> too_few() {
  return refuse(
      "RedLock requires at least 3 Redis instances. Recommended: 5 instances for optimal fault "
      "tolerance.");
}

Result<Voters> opened(Result<std::shared_ptr<client::Core>> core, std::size_t count, bool is_demo) {
  if (!core) return refuse(core.error().message);
  return Voters{std::move(*core), count, is_demo};
}

}  // namespace

std::vector<std::string> split_members(std::string_view stores) {
  std::vector<std::string> members;
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= stores.size(); ++at) {
    const bool is_end = at == stores.size();
    if (!is_end && (stores[at] != ',' || !begins_with_scheme(stores.substr(at + 1)))) continue;
    auto member = stores.substr(begin, at - begin);
    while (member.starts_with(' ')) member.remove_prefix(1);
    while (member.ends_with(' ')) member.remove_suffix(1);
    if (member.contains("://")) {
      add_each_host(member, members);
    } else {
      members.emplace_back(member);
    }
    begin = at + 1;
  }
  return members;
}

Result<Voters> open_voters(std::string_view stores) {
  if (text::is_quorum_url(stores)) {
    const auto url = text::parse_quorum_url(stores);
    if (!url) return refuse(url.error().message);
    if (url->members.size() < min_members) return too_few();
    return opened(open_quorum(stores), url->members.size(), false);
  }
  const auto urls = stores.empty() ? demo_urls() : split_members(stores);
  if (urls.size() < min_members) return too_few();
  if (has_twins(urls)) return refuse("one member stands twice, and would vote twice");
  return opened(open_quorum(urls), urls.size(), stores.empty());
}

}  // namespace holdfast::server::patterns
