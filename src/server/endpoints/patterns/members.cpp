// SPDX-License-Identifier: Apache-2.0
#include "server/endpoints/patterns/members.hpp"

#include <holdfast/client.hpp>

#include "open/open.hpp"
#include "runtime/log.hpp"
#include "runtime/random.hpp"
#include "text/url.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <future>

namespace holdfast::server::patterns {

namespace {

constexpr std::size_t demo_members = 5;
constexpr auto between_tries = std::chrono::seconds(1);

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

Members::Members(std::vector<std::string> urls, bool is_demo)
    : urls_(std::move(urls)), is_demo_(is_demo), cores_(urls_.size()) {}

Result<std::unique_ptr<Members>> Members::open(std::string_view stores) {
  auto urls = stores.empty() ? demo_urls() : split_members(stores);
  if (urls.size() < min_members) {
    return fail(Errc::bad_input,
                "patterns.redlock.store: RedLock requires at least 3 Redis instances. Recommended: "
                "5 instances for optimal fault tolerance.");
  }
  if (urls.size() > max_members) {
    return fail(Errc::bad_input,
                fmt::format("patterns.redlock.store: at most {} members", max_members));
  }
  if (has_twins(urls)) {
    return fail(Errc::bad_input,
                "patterns.redlock.store: one member stands twice, and would vote twice");
  }
  std::unique_ptr<Members> members(new Members(std::move(urls), stores.empty()));
  if (auto good = members->open_missing(); !good) return std::unexpected(std::move(good.error()));
  if (!members->is_complete()) {
    members->opener_ = std::jthread(
        [all = members.get()](const std::stop_token& stop) { all->keep_trying(stop); });
  }
  return members;
}

Members::Cores Members::cores() const {
  const std::lock_guard lock(mutex_);
  return cores_;
}

bool Members::is_complete() const {
  const std::lock_guard lock(mutex_);
  return std::ranges::none_of(cores_, [](const auto& core) { return core == nullptr; });
}

// All at once: each may take its whole connect_timeout.
Result<void> Members::open_missing() {
  const auto known = cores();
  std::vector<std::future<Result<std::shared_ptr<client::Core>>>> opening(urls_.size());
  for (std::size_t at = 0; at < urls_.size(); ++at) {
    if (!known[at]) opening[at] = std::async(std::launch::async, open_core, urls_[at]);
  }
  Result<void> outcome;
  for (std::size_t at = 0; at < urls_.size(); ++at) {
    if (!opening[at].valid()) continue;
    auto core = opening[at].get();
    if (core) {
      const std::lock_guard lock(mutex_);
      cores_[at] = std::move(*core);
    } else if (core.error().code != Errc::unavailable) {
      outcome = fail(core.error().code, "patterns.redlock.store: " + core.error().message);
    }
  }
  return outcome;
}

void Members::keep_trying(const std::stop_token& stop) {
  for (std::size_t at = 0; const auto& core : cores()) {
    const auto& url = urls_[at++];
    if (core) continue;
    runtime::log_warning(
        fmt::format("redlock: {} cannot be reached and counts as a no", text::masked(url)));
  }
  std::mutex mutex;
  std::condition_variable_any nothing;
  std::unique_lock lock(mutex);
  while (!stop.stop_requested() && !is_complete()) {
    nothing.wait_for(lock, stop, between_tries, [] { return false; });
    if (!stop.stop_requested()) (void)open_missing();
  }
}

}  // namespace holdfast::server::patterns
