// SPDX-License-Identifier: Apache-2.0
#include "backends/memory/memory_store.hpp"

#include <holdfast/options.hpp>

#include "backends/memory/records.hpp"
#include "backends/memory/shard.hpp"
#include "runtime/fork.hpp"
#include "store/mailbox.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>

namespace holdfast::backends::memory {

namespace {

using store::Reply;
using store::Request;

model::StoreTime store_time(runtime::LocalTime now) {
  return model::StoreTime(std::chrono::floor<Micros>(now.time_since_epoch()));
}

// A waiter is its own process here: one thread that does not come says nothing about the others.
model::ProcessId process_of(model::RequestId request) {
  return model::ProcessId{std::to_underlying(request)};
}

class MemoryWorld final : public model::World {
 public:
  // The counter cannot be lost while the store lives, so its floor was set once, at the start.
  MemoryWorld(runtime::LocalTime now, model::FenceCounter& fences, const store::Mailbox& mailbox)
      : World(store_time(now), 0, fences), mailbox_(mailbox) {}
  bool reachable(model::ProcessId process) override {
    return mailbox_.hears(model::RequestId{std::to_underlying(process)});
  }

 private:
  const store::Mailbox& mailbox_;
};

// "<shard>/<name>": where a listing goes on.
struct Position {
  std::size_t shard = 0;
  std::string_view after;
};

Result<Position> parse_cursor(std::string_view cursor) {
  if (cursor.empty()) return Position{};
  Position position;
  const char* const begin = cursor.data();
  const char* const end = begin + cursor.size();
  const auto [rest, failed] = std::from_chars(begin, end, position.shard);
  if (failed != std::errc{} || rest == end || *rest != '/' || position.shard >= shard_count) {
    return fail(Errc::bad_input, "cursor: must be the `next` of an earlier page");
  }
  position.after = std::string_view(rest + 1, end);
  return position;
}

class MemoryStore final : public store::Store, public std::enable_shared_from_this<MemoryStore> {
 public:
  explicit MemoryStore(std::shared_ptr<runtime::Runtime> runtime)
      : runtime_(std::move(runtime)), mailbox_(runtime_) {
    fences_.next(runtime::wall_clock_us());
  }

  void give_back_what_nobody_wants() {
    mailbox_.on_unwanted([weak = weak_from_this()](const LockName& name, const OwnerId& owner,
                                                   model::RequestId request) {
      if (const auto store = weak.lock()) store->give_back(name, owner, request);
    });
  }

  Task<Result<Reply>> apply(Request request) override {
    return Task<Result<Reply>>(std::in_place, [&] { return apply_now(request); });
  }

  Result<std::unique_ptr<store::Listening>> listen(const LockName&, const OwnerId&,
                                                   model::RequestId request) override {
    return mailbox_.listen(request, process_of(request));
  }

  Task<Result<LockPage>> list(store::ListRequest request) override {
    return Task<Result<LockPage>>(list_now(request));
  }

  Result<void> supports(const model::LockSpec&) const override { return {}; }
  store::Capabilities capabilities() const override { return {.queues = true, .immediate = true}; }
  std::string describe() const override { return "memory:"; }

 private:
  Result<Reply> apply_now(const Request& request);
  Result<LockPage> list_now(const store::ListRequest& request) const;
  void give_back(const LockName& name, const OwnerId& owner, model::RequestId request);

  const std::shared_ptr<runtime::Runtime> runtime_;
  store::Mailbox mailbox_;
  model::FenceCounter fences_;
  std::array<Shard, shard_count> shards_;
  Records<model::GuardState> guards_;
  Records<model::RateState> rates_;
  Records<model::RunState> runs_;
};

Result<Reply> MemoryStore::apply_now(const Request& request) {
  if (auto allowed = model::admissible(request.command); !allowed) {
    return std::unexpected(std::move(allowed.error()));
  }
  if (request.stop.stop_requested()) return fail(Errc::cancelled, "cancelled before it began");
  const HashedName name(request.name.str());
  if (const auto* check = std::get_if<model::GuardCommand>(&request.command)) {
    const auto now = store_time(runtime_->now());
    return Reply{now, guards_.apply(name, now, [&](model::GuardState& state) {
                   return model::step(state, *check, now);
                 })};
  }
  if (const auto* rate = std::get_if<model::RateCommand>(&request.command)) {
    const auto now = store_time(runtime_->now());
    return Reply{now, rates_.apply(name, now, [&](model::RateState& state) {
                   return model::step(state, *rate, now);
                 })};
  }
  if (const auto* run = std::get_if<model::RunCommand>(&request.command)) {
    MemoryWorld world(runtime_->now(), fences_, mailbox_);
    return Reply{world.now(), runs_.apply(name, world.now(), [&](model::RunState& state) {
                   return model::step(state, *run, world);
                 })};
  }
  const auto& command = std::get<model::LockCommand>(request.command);
  MemoryWorld world(runtime_->now(), fences_, mailbox_);
  Result<Reply> reply(std::in_place, world.now(),
                      shards_[name.shard()].apply(name, command, world));
  for (const auto& message : world.messages) mailbox_.deliver(request.name, message);
  return reply;
}

Result<LockPage> MemoryStore::list_now(const store::ListRequest& request) const {
  if (request.limit < 1 || request.limit > max_page) {
    return fail(Errc::bad_input, fmt::format("limit: must be 1 to {}", max_page));
  }
  auto position = parse_cursor(request.cursor);
  if (!position) return std::unexpected(std::move(position.error()));
  const auto now = store_time(runtime_->now());
  LockPage page;
  for (std::size_t i = position->shard; i < shard_count; ++i) {
    const std::string_view after = i == position->shard ? position->after : std::string_view{};
    const std::size_t room = request.limit - page.locks.size();
    const bool more_here = shards_[i].list(request.prefix, after, room, now, page.locks);
    if (page.locks.size() < request.limit) continue;
    if (more_here || i + 1 < shard_count) {
      page.next =
          more_here ? fmt::format("{}/{}", i, page.locks.back().name) : fmt::format("{}/", i + 1);
    }
    break;
  }
  return page;
}

void MemoryStore::give_back(const LockName& name, const OwnerId& owner, model::RequestId request) {
  model::LockCommand release{.spec = {}, .verb = model::Release{owner, request, true}};
  // Whatever it finds: a claim that is gone already needs nothing more.
  [[maybe_unused]] const auto found =
      apply_now(Request{.name = name, .command = std::move(release)});
}

}  // namespace

std::shared_ptr<store::Store> make_memory_store(std::shared_ptr<runtime::Runtime> runtime) {
  auto store = std::make_shared<MemoryStore>(std::move(runtime));
  store->give_back_what_nobody_wants();
  return store;
}

std::shared_ptr<store::Store> shared_memory_store(const std::string& name,
                                                  std::shared_ptr<runtime::Runtime> runtime) {
  struct Known {
    std::mutex mutex;
    std::unordered_map<std::string, std::weak_ptr<store::Store>> stores;  // guarded by mutex
  };
  static runtime::PerProcess<Known> per_process;
  Known& known = per_process.get();
  const std::lock_guard lock(known.mutex);
  std::erase_if(known.stores, [](const auto& entry) { return entry.second.expired(); });
  if (const auto found = known.stores.find(name); found != known.stores.end()) {
    if (auto store = found->second.lock()) return store;
  }
  auto store = make_memory_store(std::move(runtime));
  known.stores[name] = store;
  return store;
}

}  // namespace holdfast::backends::memory
