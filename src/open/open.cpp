// SPDX-License-Identifier: Apache-2.0
//
// The only file that names every backend.
#include "open/open.hpp"

#include <holdfast/client.hpp>

#include "backends/file/file_store.hpp"
#include "backends/memory/memory_store.hpp"
#include "backends/redis/redis_store.hpp"
#include "backends/remote/remote_store.hpp"
#include "client/core.hpp"
#include "text/password.hpp"
#include "text/url.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

namespace holdfast {

namespace {

using StorePtr = std::shared_ptr<store::Store>;
using RuntimePtr = std::shared_ptr<runtime::Runtime>;
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

Result<StorePtr> open_remote(const StoreUrl& url, RuntimePtr runtime) {
  auto options = backends::remote::parse_options(url);
  if (!options) return std::unexpected(std::move(options.error()));
  return backends::remote::open_remote_store(std::move(*options), std::move(runtime));
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
  return schemes;
}

Result<std::shared_ptr<client::Core>> open_core(std::string_view url) {
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
          "store: unknown scheme '{}:'; known are memory:, file:, redis:, rediss:, http: and "
          "https:",
          parsed->scheme));
}

Result<Client> open(std::string_view url) {
  auto core = open_core(url);
  if (!core) return std::unexpected(std::move(core.error()));
  return Client(std::move(*core));
}

}  // namespace holdfast
