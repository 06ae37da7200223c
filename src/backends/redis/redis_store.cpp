// SPDX-License-Identifier: Apache-2.0
#include "backends/redis/redis_store.hpp"

#include "backends/redis/defence.hpp"
#include "backends/redis/diagnosis.hpp"
#include "backends/redis/history.hpp"
#include "backends/redis/listing.hpp"
#include "backends/redis/replication.hpp"
#include "backends/redis/server.hpp"
#include "backends/redis/strangers.hpp"
#include "backends/redis/subscription.hpp"
#include "backends/redis/wire.hpp"
#include "runtime/fork.hpp"
#include "runtime/log.hpp"
#include "runtime/spawn.hpp"
#include "store/mailbox.hpp"

#include <fmt/format.h>

#include <mutex>
#include <set>

namespace holdfast::backends::redis {

namespace {

using net::resp::text_of;
using runtime::LocalTime;
using runtime::Runtime;
using store::Reply;
using store::Request;

// What an unwanted grant may cost before it lapses by itself.
constexpr Micros give_back_timeout = std::chrono::milliseconds(500);

class RedisStore final : public store::Store, public std::enable_shared_from_this<RedisStore> {
 public:
  RedisStore(Options options, std::shared_ptr<Runtime> runtime);
  // Once, before anything else: messages find the store while it lives.
  void start();
  Task<Result<void>> ready(LocalTime deadline);

  Task<Result<Reply>> apply(Request request) override;
  Result<std::unique_ptr<store::Listening>> listen(const LockName&, const OwnerId&,
                                                   model::RequestId request) override {
    return mailbox_->listen(request, process_);
  }
  Task<Result<LockPage>> list(store::ListRequest request) override {
    return list_locks(server_, std::move(request));
  }
  Result<void> supports(const model::LockSpec& spec) const override {
    return options_.dialect.supports(spec);
  }
  store::Capabilities capabilities() const override {
    const auto& dialect = options_.dialect;
    return {.queues = true,
            .may_change = true,
            .dialect = dialect.is_native() ? std::string_view() : dialect.profile().dialect};
  }
  void on_change(std::function<void()> changed) override;
  store::Standing standing() const override { return server_->standing(); }
  Task<Result<std::vector<std::string>>> diagnose(LocalTime deadline) override {
    return look_for_trouble(server_, subscription_, deadline);
  }
  Task<Result<Micros>> clock_offset(LocalTime deadline) override {
    return measure_clock_offset(server_, deadline);
  }
  Task<Result<std::vector<LockEvent>>> history(LockName name, std::uint32_t limit,
                                               LocalTime deadline) override {
    if (options_.audit == 0) return Store::history(std::move(name), limit, deadline);
    return read_history(server_, std::move(name), limit, deadline);
  }
  OwnerId fresh_owner(Runtime& runtime) const override {
    if (options_.dialect.is_native()) return Store::fresh_owner(runtime);
    return options_.dialect.fresh_owner(runtime);
  }
  std::string describe() const override;

 private:
  Server::Events server_events();
  Subscription::Events subscription_events();
  void deliver(std::string_view channel, const redisReply& payload);
  void subscribed(std::uint64_t client_id);
  void changed();
  void give_back(const LockName& name, const OwnerId& owner, model::RequestId request);
  Task<Result<Reply>> send(Request request);
  Task<Result<Reply>> send_and_hear(Request request);

  const Options options_;
  const std::shared_ptr<Runtime> runtime_;
  const model::ProcessId process_;
  const std::shared_ptr<store::Mailbox> mailbox_;
  const std::shared_ptr<Server> server_;
  const std::shared_ptr<Subscription> subscription_;
  const std::shared_ptr<Strangers> strangers_;      // only in a dialect
  const std::shared_ptr<Defence> defence_;          // only where others change the ttl of our keys
  const std::shared_ptr<Replication> replication_;  // only where replicas count

  std::mutex mutex_;
  std::vector<std::function<void()>> on_change_;  // guarded by mutex_
};

std::shared_ptr<Subscription> make_subscription(const Options& options,
                                                std::shared_ptr<Server> server,
                                                model::ProcessId process) {
  std::vector<std::string> channels{channel_of(process)};
  if (!options.dialect.is_native()) channels.emplace_back(invalidation_channel);
  return std::make_shared<Subscription>(std::move(server), options.endpoint, std::move(channels));
}

std::shared_ptr<Replication> make_replication(const Options& options,
                                              const std::shared_ptr<Runtime>& runtime) {
  if (options.replicas == 0) return nullptr;
  Options for_wait = options;
  for_wait.endpoint.command_timeout += options.replica_timeout;
  return std::make_shared<Replication>(std::make_shared<Server>(runtime, for_wait), options);
}

RedisStore::RedisStore(Options options, std::shared_ptr<Runtime> runtime)
    : options_(std::move(options)),
      runtime_(std::move(runtime)),
      process_(model::ProcessId{runtime_->random() | 1U}),
      mailbox_(std::make_shared<store::Mailbox>(runtime_)),
      server_(std::make_shared<Server>(runtime_, options_)),
      subscription_(make_subscription(options_, server_, process_)),
      strangers_(options_.dialect.is_native() ? nullptr
                                              : std::make_shared<Strangers>(server_, mailbox_)),
      defence_(options_.dialect.losers_set_ttl() ? std::make_shared<Defence>(server_) : nullptr),
      replication_(make_replication(options_, runtime_)) {}

void RedisStore::start() {
  mailbox_->on_unwanted([weak = weak_from_this()](const LockName& name, const OwnerId& owner,
                                                  model::RequestId request) {
    if (const auto store = weak.lock()) store->give_back(name, owner, request);
  });
  server_->prepare(server_events());
  if (replication_) {
    Server::Events events;
    events.behind_a_stranger = server_events().behind_a_stranger;
    replication_->server().prepare(std::move(events));
  }
  subscription_->prepare(subscription_events());
  // Only now: their events come on the runtime's thread and find everything in its place.
  server_->start();
  if (replication_) replication_->server().start();
  subscription_->start();
}

Server::Events RedisStore::server_events() {
  Server::Events events;
  events.changed = [weak = weak_from_this()] {
    if (const auto store = weak.lock()) store->changed();
  };
  events.connected = [weak = std::weak_ptr(subscription_)](const Placement::Peer& server) {
    if (const auto subscription = weak.lock()) subscription->connected(server);
  };
  events.disconnected = [weak = std::weak_ptr(subscription_)] {
    if (const auto subscription = weak.lock()) subscription->disconnected();
  };
  if (!strangers_) return events;
  events.greeting = [weak = std::weak_ptr(strangers_)] {
    const auto strangers = weak.lock();
    return strangers ? strangers->greeting() : std::vector<std::string>{};
  };
  events.behind_a_stranger = [weak = weak_from_this()](const LockName& name,
                                                       model::RequestId request) {
    if (const auto store = weak.lock()) store->strangers_->wait_for(name, request);
  };
  return events;
}

Subscription::Events RedisStore::subscription_events() {
  Subscription::Events events;
  events.message = [weak = weak_from_this()](std::string_view channel, const redisReply& payload) {
    if (const auto store = weak.lock()) store->deliver(channel, payload);
  };
  events.subscribed = [weak = weak_from_this()](std::uint64_t client_id) {
    if (const auto store = weak.lock()) store->subscribed(client_id);
  };
  return events;
}

Task<Result<void>> RedisStore::ready(LocalTime deadline) {
  const auto self = shared_from_this();
  auto connecting = server_->connected(deadline);
  Result<void> connected = co_await std::move(connecting);
  if (!connected) co_return connected;
  auto probing = probe_rights(server_, channel_of(process_), deadline);
  Result<void> allowed = co_await std::move(probing);
  if (!allowed) co_return allowed;
  auto subscribing = subscription_->settled(deadline);
  co_return co_await std::move(subscribing);
}

Task<Result<Reply>> RedisStore::apply(Request request) {
  if (auto allowed = model::admissible(request.command); !allowed) {
    return Task<Result<Reply>>(std::unexpected(std::move(allowed.error())));
  }
  if (request.stop.stop_requested()) {
    return Task<Result<Reply>>(fail(Errc::cancelled, "cancelled before it began"));
  }
  const bool is_lock = std::holds_alternative<model::LockCommand>(request.command);
  if (!is_lock) return send(std::move(request));
  if (auto admitted = options_.dialect.admits(request.name); !admitted) {
    return Task<Result<Reply>>(std::unexpected(std::move(admitted.error())));
  }
  if (!defence_) return send(std::move(request));
  return send_and_hear(std::move(request));
}

Task<Result<Reply>> RedisStore::send_and_hear(Request request) {
  const auto self = shared_from_this();
  const LockName name = request.name;
  const auto command = std::get<model::LockCommand>(request.command);
  auto sending = send(std::move(request));
  Result<Reply> reply = co_await std::move(sending);
  if (reply) defence_->heard(name, command, *reply);
  co_return reply;
}

Task<Result<Reply>> RedisStore::send(Request request) {
  // Releases too: what a caller does one after the other must arrive in that order.
  if (replication_ && !model::only_looks(request.command))
    return replication_->apply(std::move(request));
  return server_->apply(std::move(request));
}

void RedisStore::on_change(std::function<void()> changed) {
  const std::lock_guard lock(mutex_);
  on_change_.push_back(std::move(changed));
}

void RedisStore::changed() {
  // Tracking ended with the connection: whoever still waits for a stranger is registered anew. And
  // another server has another clock.
  constexpr bool store_changed = true;
  mailbox_->hint_all(store_changed);
  if (defence_) defence_->all_may_have_changed();
  std::vector<std::function<void()>> told;
  {
    const std::lock_guard lock(mutex_);
    told = on_change_;
  }
  for (const auto& each : told) each();
}

std::string RedisStore::describe() const {
  return fmt::format("{}://{}/{}", options_.endpoint.tls ? "rediss" : "redis", server_->peer(),
                     options_.endpoint.database);
}

void RedisStore::deliver(std::string_view channel, const redisReply& payload) {
  if (strangers_ && channel == invalidation_channel) {
    strangers_->changed(payload);
    if (defence_) defence_->changed(payload);
    return;
  }
  if (payload.type != REDIS_REPLY_STRING) return;
  auto told = decode_message(text_of(payload), options_.dialect);
  if (!told) return;
  // A grant that came by a message is on no replica yet, as far as we know: asking again writes it
  // over the connection whose WAIT can tell. And only the server that answers commands can grant.
  if (replication_ || !subscription_->is_proven()) told->message.grant.reset();
  mailbox_->deliver(told->name, told->message);
}

// What was said while nobody listened is lost: everybody asks again.
void RedisStore::subscribed(std::uint64_t client_id) {
  if (strangers_) strangers_->redirect_to(client_id);
  if (client_id == 0) return;
  if (defence_) defence_->all_may_have_changed();
  mailbox_->hint_all();
}

void RedisStore::give_back(const LockName& name, const OwnerId& owner, model::RequestId request) {
  model::LockCommand release{.spec = {}, .verb = model::Release{owner, request, true}};
  runtime::spawn(apply(Request{.name = name,
                               .command = std::move(release),
                               .deadline = runtime_->now() + give_back_timeout}));
}

// Only in the log, and each of them once in a process: none keeps a lock from working today.
void warn_of_trouble(store::Store& store, Runtime& runtime) {
  struct Said {
    std::mutex mutex;
    std::set<std::string> sentences;  // guarded by mutex
  };
  static runtime::PerProcess<Said> per_process;
  auto found = runtime::run_blocking(store.diagnose(runtime.now() + std::chrono::seconds(1)));
  if (!found) return;
  Said& said = per_process.get();
  const std::lock_guard lock(said.mutex);
  for (const auto& trouble : *found) {
    if (said.sentences.insert(trouble).second) runtime::log_warning(trouble);
  }
}

}  // namespace

Connecting connect_redis_store(Options options, std::shared_ptr<Runtime> runtime) {
  const auto deadline = runtime->now() + options.endpoint.connect_timeout;
  auto store = std::make_shared<RedisStore>(std::move(options), std::move(runtime));
  store->start();
  auto ready = store->ready(deadline);
  return {std::move(store), std::move(ready)};
}

Result<std::shared_ptr<store::Store>> open_redis_store(Options options,
                                                       std::shared_ptr<Runtime> runtime) {
  if (runtime->on_own_thread()) {
    return fail(Errc::unsupported,
                "a store cannot be opened inside a Holdfast callback: use another thread");
  }
  auto [store, connecting] = connect_redis_store(std::move(options), runtime);
  if (auto ready = runtime::run_blocking(std::move(connecting)); !ready) {
    return std::unexpected(std::move(ready.error()));
  }
  warn_of_trouble(*store, *runtime);
  return store;
}

}  // namespace holdfast::backends::redis
