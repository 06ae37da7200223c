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
#include "text/url.hpp"

#include <fmt/format.h>

#include <algorithm>
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

// A store whose members may be away: it is enough that a majority is there.
Result<std::vector<MemberStore>> connect_members(const text::QuorumUrl& url,
                                                 const backends::quorum::Options& options,
                                                 const RuntimePtr& runtime) {
  std::vector<MemberStore> members;
  Micros patience{};
  auto gathering = std::make_shared<Gathering>(runtime, url.members.size());
  std::vector<Task<Result<void>>> connecting;
  for (StoreUrl member : url.members) {
    member.options = url.options;
    if (auto found = text::find_password(member); !found) {
      return std::unexpected(std::move(found.error()));
    }
    auto how = backends::redis::parse_options(member);
    if (!how) return std::unexpected(std::move(how.error()));
    // A little less than what the vote waits: then no command needs a timer of its own.
    how->endpoint.command_timeout = options.timeout * 9 / 10;
    patience = how->endpoint.connect_timeout;
    std::string address = how->endpoint.describe();
    if (how->endpoint.database != 0) address += fmt::format("/{}", how->endpoint.database);
    auto [store, ready] = backends::redis::connect_redis_store(std::move(*how), runtime);
    members.push_back({std::move(store), std::move(address)});
    connecting.push_back(std::move(ready));
  }
  for (std::size_t at = 0; at < members.size(); ++at) {
    runtime::spawn(std::move(connecting[at]), [gathering, at](Result<void>&& ready) {
      gathering->put(at, std::move(ready));
    });
  }
  const auto missing = runtime::run_blocking(wait_for_most(gathering, patience));
  std::string each;
  for (std::size_t at = 0; at < members.size(); ++at) {
    if (!missing[at]) continue;
    each += fmt::format("{}{}: {}", each.empty() ? "" : "; ", members[at].address, *missing[at]);
    runtime::log_warning(
        fmt::format("redlock: {} counts as a no until it answers: {}", members[at].address, *missing[at]));
  }
  const auto away = static_cast<std::size_t>(
      std::ranges::count_if(missing, [](const auto& why) { return why.has_value(); }));
  if (members.size() - away > members.size() / 2) return members;
  return fail(Errc::unavailable,
              fmt::format("redlock: only {} of {} members answer, and a majority is needed ({})",
                          members.size() - away, members.size(), each));
}

Result<StorePtr> open_redlock(std::string_view text, const RuntimePtr& runtime) {
  auto url = text::parse_quorum_url(text);
  if (!url) return std::unexpected(std::move(url.error()));
  auto options = backends::quorum::take_options(url->options);
  if (!options) return std::unexpected(std::move(options.error()));
  const auto count = url->members.size();
  if (count < backends::quorum::min_members || count > backends::quorum::max_members) {
    return fail(Errc::bad_input, fmt::format("store: redlock: needs {} to {} members; got {}",
                                             backends::quorum::min_members,
                                             backends::quorum::max_members, count));
  }
  if (runtime->on_own_thread()) {
    return fail(Errc::unsupported,
                "a store cannot be opened inside a Holdfast callback: use another thread");
  }
  auto members = connect_members(*url, *options, runtime);
  if (!members) return std::unexpected(std::move(members.error()));
  return backends::quorum::make_quorum_store(std::move(*members), *options, runtime);
}

Result<StorePtr> open_remote(const StoreUrl& url, RuntimePtr runtime) {
  auto options = backends::remote::parse_options(url);
  if (!options) return std::unexpected(std::move(options.error()));
  return backends::remote::open_remote_store(std::move(*options), std::move(runtime));
}

constexpr std::string_view quorum_scheme = "redlock";

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
    auto runtime = runtime::shared_runtime();
    auto store = open_redlock(url, runtime);
    if (!store) return std::unexpected(std::move(store.error()));
    return client::make_core(std::move(*store), std::move(runtime));
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
    auto runtime = runtime::shared_runtime();
    auto store = backend.open(*parsed, runtime);
    if (!store) return std::unexpected(std::move(store.error()));
    return client::make_core(std::move(*store), std::move(runtime));
  }
  return fail(
      Errc::bad_input,
      fmt::format(
          "store: unknown scheme '{}:'; known are memory:, file:, redis:, rediss:, redlock:, "
          "http: and https:",
          parsed->scheme));
}

Result<Client> open(std::string_view url) {
  auto core = open_core(url);
  if (!core) return std::unexpected(std::move(core.error()));
  return Client(std::move(*core));
}

}  // namespace holdfast
