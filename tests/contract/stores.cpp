// SPDX-License-Identifier: Apache-2.0
//
// The only file of the contract that names a store. A store joins with one line.
#include "stores.hpp"

#include "backends/file/file_store.hpp"
#include "backends/memory/memory_store.hpp"
#include "backends/redis/redis_store.hpp"
#include "client_contract.hpp"
#include "store_contract.hpp"
#include "support/redis_server.hpp"

#include <map>

namespace holdfast::test {

using Folder = std::filesystem::path;
using RuntimePtr = std::shared_ptr<runtime::Runtime>;
using backends::file::open_file_store;
using backends::memory::shared_memory_store;

namespace {

// One server for the program, and a database for each folder.
Result<std::shared_ptr<store::Store>> open_redis(RuntimePtr runtime, const Folder& folder) {
  static RedisServer server({"--databases", "1000"});
  static std::map<Folder, std::uint32_t> databases;
  backends::redis::Options options;
  options.endpoint.port = server.port();
  options.endpoint.database =
      databases.emplace(folder, static_cast<std::uint32_t>(databases.size())).first->second;
  return backends::redis::open_redis_store(std::move(options), std::move(runtime));
}

}  // namespace

std::vector<StoreUnderTest> stores_under_test() {
  return {
      {"memory", [](RuntimePtr r, const Folder& f) { return shared_memory_store(f, r); }},
      {"file", [](RuntimePtr r, const Folder& f) { return open_file_store({f}, r); }},
      {"file_durable", [](RuntimePtr r, const Folder& f) { return open_file_store({f, true}, r); }},
      {"redis", open_redis},
  };
}

namespace {

constexpr auto by_name = [](const auto& param) { return param.param.name; };

INSTANTIATE_TEST_SUITE_P(Stores, StoreContract, testing::ValuesIn(stores_under_test()), by_name);
INSTANTIATE_TEST_SUITE_P(Stores, ClientContract, testing::ValuesIn(stores_under_test()), by_name);

}  // namespace
}  // namespace holdfast::test
