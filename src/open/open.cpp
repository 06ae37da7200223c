// SPDX-License-Identifier: Apache-2.0
//
// The only file that names every backend.
#include "open/open.hpp"

#include <holdfast/client.hpp>

#include "backends/file/file_store.hpp"
#include "backends/memory/memory_store.hpp"
#include "backends/quorum/quorum_store.hpp"
#include "backends/redis/redis_store.hpp"
#include "backends/remote/remote_store.hpp"
#include "client/core.hpp"
#include "open/gathering.hpp"
#include "runtime/log.hpp"
#include "runtime/spawn.hpp"
#include "text/password.hpp"
#include "text/quorum_url.hpp"
#include "text/quote.hpp"
#include "text/url.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <initializer_list>

namespace holdfast {

namespace {

using StorePtr = std::shared_ptr<store::Store>;
using RuntimePtr = std::shared_ptr<runtime::Runtime>;
using backends::quorum::MemberStore;
using text::StoreUrl;

Result<void> check_options(const StoreUrl& url, std::initializer_list<std::string_view> known) {
  for (const auto& [option, value] : url.options) {
    if (std::find(known.begin(), known.end(), option) != known.end()) continue;
    return fail(Errc::bad_input, fmt::format("store: {}: has no option '{}'", url.scheme, option));
  }
  return {};
}

Result<bool> yes_or_no(const StoreUrl& url, std::string_view option) {
  const auto found = url.options.find(option);
  if (found == url.options.end() || found->second == "no") return false;
  if (found->second == "yes") return true;
  return fail(Errc::bad_input,
              fmt::format("store: option '{}' must be yes or no, not '{}'", option, found->second));
}

Result<StorePtr> open_memory(const StoreUrl& url, RuntimePtr runtime) {
  if (auto good = check_options(url, {}); !good) return std::unexpected(std::move(good.error()));
  return backends::memory::shared_memory_store(url.path, std::move(runtime));
}

Result<StorePtr> open_file(const StoreUrl& url, RuntimePtr runtime) {
  if (auto good = check_options(url, {"durable"}); !good) {
    return std::unexpected(std::move(good.error()));
  }
  const auto durable = yes_or_no(url, "durable");
  if (!durable) return std::unexpected(durable.error());
  return backends::file::open_file_store({.path = url.path, .durable = *durable},
                                         std::move(runtime));
}

Result<StorePtr> open_redis(const StoreUrl& url, RuntimePtr runtime) {
  auto options = backends::redis::parse_options(url);
  if (!options) return std::unexpected(std::move(options.error()));
  return backends::redis::open_redis_store(std::move(*options), std::move(runtime));
}

// Whether a store of many opens while too few of them can be reached.
enum class Absent : std::uint8_t { may_come_later, must_be_few };

struct OpenedMember {
  MemberStore member;
  Task<Result<void>> ready;
  Micros patience{};
};

Result<OpenedMember> open_redis_member(StoreUrl url, const RuntimePtr& runtime) {
  if (auto found = text::find_password(url); !found) {
    return std::unexpected(std::move(found.error()));
  }
  auto how = backends::redis::parse_options(url);
  if (!how) return std::unexpected(std::move(how.error()));
  const Micros patience = how->endpoint.connect_timeout;
  std::string address = how->endpoint.describe();
  if (how->endpoint.database != 0) address += fmt::format("/{}", how->endpoint.database);
  auto [store, ready] = backends::redis::connect_redis_store(std::move(*how), runtime);
  return OpenedMember{{std::move(store), std::move(address)}, std::move(ready), patience};
}

// Those that need no network are there or are not.
Result<OpenedMember> open_member(StoreUrl url, const RuntimePtr& runtime) {
  if (url.scheme == "redis" || url.scheme == "rediss") {
    return open_redis_member(std::move(url), runtime);
  }
  if (url.scheme != "memory" && url.scheme != "file") {
    return fail(Errc::bad_input,
                fmt::format("store: redlock: members are memory:, file:, redis: or rediss:, not "
                            "'{}:'",
                            url.scheme));
  }
  auto store = url.scheme == "memory" ? open_memory(url, runtime) : open_file(url, runtime);
  if (!store) return std::unexpected(std::move(store.error()));
  std::string address = fmt::format("{}:{}", url.scheme, url.path);
  constexpr bool forgets_nothing = true;
  return OpenedMember{{std::move(*store), std::move(address), forgets_nothing},
                      Task<Result<void>>(Result<void>{})};
}

std::string explain_absence(const std::vector<MemberStore>& members,
                            const std::vector<std::optional<std::string>>& missing) {
  std::string each;
  for (std::size_t at = 0; at < members.size(); ++at) {
    if (!missing[at]) continue;
    const std::string& address = members[at].address;
    const auto reason = text::without_peer(*missing[at], address.substr(0, address.find('/')));
    each += fmt::format("{}{} unreachable ({})", each.empty() ? "" : ", ", address, reason);
    runtime::log_warning(
        fmt::format("redlock: {} counts as a no until it answers: {}", address, reason));
  }
  return each;
}

Result<std::vector<MemberStore>> connect_members(std::vector<StoreUrl> urls, Absent absent,
                                                 const RuntimePtr& runtime) {
  std::vector<MemberStore> members;
  Micros patience{};
  std::vector<Task<Result<void>>> connecting;
  for (StoreUrl& url : urls) {
    auto opened = open_member(std::move(url), runtime);
    if (!opened) return std::unexpected(std::move(opened.error()));
    members.push_back(std::move(opened->member));
    connecting.push_back(std::move(opened->ready));
    patience = std::max(patience, opened->patience);
  }
  auto gathering = std::make_shared<Gathering>(runtime, members.size());
  for (std::size_t at = 0; at < members.size(); ++at) {
    runtime::spawn(std::move(connecting[at]),
                   [gathering, at](Result<void>&& ready) { gathering->put(at, std::move(ready)); });
  }
  const auto missing = runtime::run_blocking(wait_for_most(gathering, patience));
  const std::string each = explain_absence(members, missing);
  const auto away = static_cast<std::size_t>(
      std::ranges::count_if(missing, [](const auto& why) { return why.has_value(); }));
  const auto needed = members.size() / 2 + 1;
  if (absent == Absent::may_come_later || members.size() - away >= needed) return members;
  return fail(Errc::quorum_not_reached,
              fmt::format("redlock: quorum not reached: {} of {} members answer, {} are needed: {}",
                          members.size() - away, members.size(), needed, each));
}

Result<StorePtr> open_members(std::vector<StoreUrl> urls, const backends::quorum::Options& options,
                              Absent absent, const RuntimePtr& runtime) {
  using backends::quorum::max_members;
  using backends::quorum::min_members;
  if (urls.size() < min_members || urls.size() > max_members) {
    return fail(Errc::bad_input, fmt::format("store: redlock: needs {} to {} members; got {}",
                                             min_members, max_members, urls.size()));
  }
  if (runtime->on_own_thread()) {
    return fail(Errc::unsupported,
                "a store cannot be opened inside a Holdfast callback: use another thread");
  }
  auto members = connect_members(std::move(urls), absent, runtime);
  if (!members) return std::unexpected(std::move(members.error()));
  return backends::quorum::make_quorum_store(std::move(*members), options, runtime);
}

// What is about certificates concerns only those members that have one; where none has, it is a
// mistake, and each of them says so.
void share_options(text::QuorumUrl& url) {
  const bool some_have_tls =
      std::ranges::any_of(url.members, [](const auto& each) { return each.scheme == "rediss"; });
  for (StoreUrl& member : url.members) {
    member.options = url.options;
    if (!some_have_tls || member.scheme == "rediss") continue;
    for (const std::string_view of_tls : {"ca", "cert", "key", "sni"}) {
      if (const auto found = member.options.find(of_tls); found != member.options.end()) {
        member.options.erase(found);
      }
    }
  }
}

Result<StorePtr> open_redlock(std::string_view text, Absent absent, const RuntimePtr& runtime) {
  auto url = text::parse_quorum_url(text);
  if (!url) return std::unexpected(std::move(url.error()));
  auto options = backends::quorum::take_options(url->options);
  if (!options) return std::unexpected(std::move(options.error()));
  share_options(*url);
  return open_members(std::move(url->members), *options, absent, runtime);
}

Result<std::shared_ptr<client::Core>> core_over(Result<StorePtr> store, RuntimePtr runtime) {
  if (!store) return std::unexpected(std::move(store.error()));
  return client::make_core(std::move(*store), std::move(runtime));
}

Result<StorePtr> open_remote(const StoreUrl& url, RuntimePtr runtime) {
  auto options = backends::remote::parse_options(url);
  if (!options) return std::unexpected(std::move(options.error()));
  return backends::remote::open_remote_store(std::move(*options), std::move(runtime));
}

constexpr std::string_view quorum_scheme = "redlock";

// Every store takes `drift`; that of redlock: is between its members, and its own.
Result<std::optional<client::Drift>> take_drift(StoreUrl& url) {
  using backends::quorum::max_drift;
  using backends::quorum::min_drift;
  const auto given = url.options.find("drift");
  if (given == url.options.end()) return std::nullopt;
  const std::string text = std::move(given->second);
  url.options.erase(given);
  double value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_number = failure == std::errc{} && end == text.data() + text.size();
  if (!is_number || !(value >= min_drift && value <= max_drift)) {
    return fail(Errc::bad_input, fmt::format("store: option 'drift' must be a number from {} to {}",
                                             min_drift, max_drift));
  }
  return client::Drift{static_cast<std::uint32_t>(std::ceil(value * 1e6))};
}

struct Backend {
  std::string_view scheme;
  Result<StorePtr> (*open)(const StoreUrl&, RuntimePtr);
  bool has_password = false;
};

constexpr Backend backends_by_scheme[] = {{"memory", open_memory},     {"file", open_file},
                                          {"redis", open_redis, true}, {"rediss", open_redis, true},
                                          {"http", open_remote},       {"https", open_remote}};

}  // namespace

std::vector<std::string_view> store_schemes() {
  std::vector<std::string_view> schemes;
  for (const Backend& backend : backends_by_scheme) schemes.push_back(backend.scheme);
  schemes.push_back(quorum_scheme);
  return schemes;
}

Result<std::shared_ptr<client::Core>> open_core(std::string_view url) {
  if (text::is_quorum_url(url)) {
    const auto runtime = runtime::shared_runtime();
    return core_over(open_redlock(url, Absent::must_be_few, runtime), runtime);
  }
  auto parsed = text::parse_store_url(url);
  if (!parsed) return std::unexpected(std::move(parsed.error()));
  for (const Backend& backend : backends_by_scheme) {
    if (backend.scheme != parsed->scheme) continue;
    if (backend.has_password) {
      if (auto found = text::find_password(*parsed); !found) {
        return std::unexpected(std::move(found.error()));
      }
    }
    const auto drift = take_drift(*parsed);
    if (!drift) return std::unexpected(drift.error());
    const auto runtime = runtime::shared_runtime();
    auto core = core_over(backend.open(*parsed, runtime), runtime);
    if (core && *drift) (*core)->assume(**drift);
    return core;
  }
  if (parsed->scheme == quorum_scheme) {
    return fail(Errc::bad_input, "store: redlock: is written redlock://MEMBER,MEMBER,MEMBER");
  }
  return fail(
      Errc::bad_input,
      fmt::format(
          "store: unknown scheme '{}:'; known are memory:, file:, redis:, rediss:, redlock:, "
          "http: and https:",
          parsed->scheme));
}

Result<std::shared_ptr<client::Core>> open_quorum(std::string_view url) {
  const auto runtime = runtime::shared_runtime();
  return core_over(open_redlock(url, Absent::may_come_later, runtime), runtime);
}

Result<std::shared_ptr<client::Core>> open_quorum(const std::vector<std::string>& members) {
  std::vector<StoreUrl> urls;
  for (const auto& member : members) {
    auto url = text::parse_store_url(member);
    if (!url) return std::unexpected(std::move(url.error()));
    urls.push_back(std::move(*url));
  }
  const auto runtime = runtime::shared_runtime();
  return core_over(open_members(std::move(urls), {}, Absent::may_come_later, runtime), runtime);
}

Result<Client> open(std::string_view url) {
  auto core = open_core(url);
  if (!core) return std::unexpected(std::move(core.error()));
  return Client(std::move(*core));
}

}  // namespace holdfast
