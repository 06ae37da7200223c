// SPDX-License-Identifier: Apache-2.0
//
// The only file of the contract that names a store. A store joins with one line.
#include "stores.hpp"

#include "backends/file/file_store.hpp"
#include "backends/memory/memory_store.hpp"
#include "backends/quorum/quorum_store.hpp"
#include "backends/redis/redis_store.hpp"
#include "backends/remote/remote_store.hpp"
#include "client/core.hpp"
#include "client_contract.hpp"
#include "server/server.hpp"
#include "store_contract.hpp"
#include "support/redis_server.hpp"

#include <deque>
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
  // A busy machine is slow, and nothing here is about that.
  options.endpoint.command_timeout = std::chrono::seconds(20);
  options.endpoint.connect_timeout = std::chrono::seconds(20);
  options.endpoint.database =
      databases.emplace(folder, static_cast<std::uint32_t>(databases.size())).first->second;
  return backends::redis::open_redis_store(std::move(options), std::move(runtime));
}

// A server for each test, on a memory store of its own. The one before goes on for a while: leases
// that ended with their test are still given back to it.
struct ServerOfFolder {
  Folder folder;
  std::unique_ptr<server::Server> server;
};
std::deque<ServerOfFolder>& servers() {
  static std::deque<ServerOfFolder> newest_last;
  return newest_last;
}

class NoServerAtTheEnd : public testing::Environment {
 public:
  void TearDown() override { servers().clear(); }
};
[[maybe_unused]] const auto* const registered =
    testing::AddGlobalTestEnvironment(new NoServerAtTheEnd);

Result<void> serve(const RuntimePtr& runtime, const Folder& folder) {
  if (!servers().empty() && servers().back().folder == folder) return {};
  server::ServerOptions options;
  options.listen = {"127.0.0.1:0"};
  options.drain = std::chrono::milliseconds(100);
  auto core = client::make_core(shared_memory_store(folder, runtime), runtime);
  auto started = server::Server::start(std::move(options), std::move(core));
  if (!started) return std::unexpected(std::move(started.error()));
  servers().push_back({folder, std::move(*started)});
  if (servers().size() > 2) servers().pop_front();
  return {};
}

Result<std::shared_ptr<store::Store>> open_remote(RuntimePtr runtime, const Folder& folder) {
  if (auto serving = serve(runtime, folder); !serving) {
    return std::unexpected(std::move(serving.error()));
  }
  const auto address = servers().back().server->addresses().front();
  backends::remote::Options options;
  options.origin.port =
      static_cast<std::uint16_t>(std::stoul(address.substr(address.rfind(':') + 1)));
  return backends::remote::open_remote_store(std::move(options), std::move(runtime));
}

// Without tries of its own: the contract says itself when it asks again.
Result<std::shared_ptr<store::Store>> open_quorum(RuntimePtr runtime, const Folder& folder) {
  std::vector<backends::quorum::MemberStore> members;
  for (const auto* each : {"a", "b", "c", "d", "e"}) {
    members.push_back({shared_memory_store(folder / each, runtime), each, true});
  }
  backends::quorum::Options options;
  options.retries = 0;
  return backends::quorum::make_quorum_store(std::move(members), options, std::move(runtime));
}

}  // namespace

std::vector<StoreUnderTest> stores_under_test() {
  return {
      {"memory", [](RuntimePtr r, const Folder& f) { return shared_memory_store(f, r); }},
      {"file", [](RuntimePtr r, const Folder& f) { return open_file_store({f}, r); }},
      {"file_durable", [](RuntimePtr r, const Folder& f) { return open_file_store({f, true}, r); }},
      {"redis", open_redis},
      {"remote", open_remote},
      {"quorum", open_quorum},
  };
}

namespace {

constexpr auto by_name = [](const auto& param) { return param.param.name; };

INSTANTIATE_TEST_SUITE_P(Stores, StoreContract, testing::ValuesIn(stores_under_test()), by_name);
INSTANTIATE_TEST_SUITE_P(Stores, ClientContract, testing::ValuesIn(stores_under_test()), by_name);

}  // namespace
}  // namespace holdfast::test
