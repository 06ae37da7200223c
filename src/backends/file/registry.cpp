// SPDX-License-Identifier: Apache-2.0
#include "backends/file/registry.hpp"

#include "backends/file/places.hpp"
#include "runtime/fork.hpp"

#include <atomic>
#include <map>
#include <mutex>
#include <tuple>

namespace holdfast::backends::file {

namespace {

using Key = std::tuple<Folder::Identity, bool, std::string>;

struct Registry {
  std::mutex mutex;
  std::map<Key, std::weak_ptr<Environment>> environments;  // guarded by mutex
};

// Never destroyed: a client in a static object may outlive it. A forked child gets a fresh one,
// since the parent's mutex may have been held at the fork and its environments are not ours.
Registry& registry() {
  static std::atomic<Registry*> current = new Registry;
  static std::atomic<std::uint32_t> seen{runtime::fork_generation()};
  auto was = seen.load();
  const auto generation = runtime::fork_generation();
  if (was != generation && seen.compare_exchange_strong(was, generation)) {
    current.store(new Registry);
  }
  return *current.load();
}

}  // namespace

Result<std::shared_ptr<Environment>> shared_environment(EnvironmentOptions options,
                                                        const runtime::Runtime& runtime) {
  if (options.boot_id.empty()) {
    auto boot_id = current_boot_id();
    if (!boot_id) return std::unexpected(std::move(boot_id.error()));
    options.boot_id = std::move(*boot_id);
  }
  auto folder = Folder::open(options.path);
  if (!folder) return std::unexpected(folder.error());
  const Key key{folder->identity(), options.durable, options.boot_id};
  Registry& known = registry();
  const std::lock_guard lock(known.mutex);
  std::erase_if(known.environments, [](const auto& entry) { return entry.second.expired(); });
  if (const auto found = known.environments.find(key); found != known.environments.end()) {
    // Clients of a deleted store may live on, and are told so; a new one gets a new store.
    auto environment = found->second.lock();
    if (environment && !environment->is_deleted()) return environment;
  }
  auto environment = Environment::open(std::move(options), std::move(*folder), runtime);
  if (environment) known.environments[key] = *environment;
  return environment;
}

}  // namespace holdfast::backends::file
