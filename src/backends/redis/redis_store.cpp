// SPDX-License-Identifier: Apache-2.0
#include "backends/redis/redis_store.hpp"

#include "backends/redis/listing.hpp"
#include "backends/redis/server.hpp"
#include "backends/redis/wire.hpp"
#include "net/resp/subscriber.hpp"
#include "runtime/spawn.hpp"
#include "store/mailbox.hpp"

#include <fmt/format.h>

namespace holdfast::backends::redis {

namespace {

using net::resp::Subscriber;
using net::resp::text_of;
using runtime::Runtime;
using store::Reply;
using store::Request;

// What an unwanted grant may cost before it lapses by itself.
constexpr Micros give_back_timeout = std::chrono::milliseconds(500);

class RedisStore final : public store::Store, public std::enable_shared_from_this<RedisStore> {
 public:
  RedisStore(Options options, std::shared_ptr<Runtime> runtime)
      : options_(std::move(options)),
        runtime_(std::move(runtime)),
        process_(model::ProcessId{runtime_->random() | 1U}),
        mailbox_(runtime_),
        server_(std::make_shared<Server>(runtime_, options_)) {}

  // Once, before anything else: messages find the store while it lives.
  void start() {
    mailbox_.on_unwanted([weak = weak_from_this()](const LockName& name, const OwnerId& owner,
                                                   model::RequestId request) {
      if (const auto store = weak.lock()) store->give_back(name, owner, request);
    });
    Subscriber::Events events;
    events.message = [weak = weak_from_this()](std::string_view, const redisReply& payload) {
      if (const auto store = weak.lock()) store->deliver(payload);
    };
    // What was said while nobody listened is lost: everybody asks again.
    events.subscribed = [weak = weak_from_this()](std::uint64_t) {
      if (const auto store = weak.lock()) store->mailbox_.hint_all();
    };
    subscriber_ = std::make_unique<Subscriber>(
        runtime_, options_.endpoint, std::vector<std::string>{channel_of(process_)},
        std::move(events));
  }

  Task<Result<void>> ready(runtime::LocalTime deadline) {
    auto connecting = server_->connected(deadline);
    Result<void> connected = co_await std::move(connecting);
    if (!connected) co_return connected;
    auto subscribing = subscriber_->subscribed(deadline);
    co_return co_await std::move(subscribing);
  }

  Task<Result<Reply>> apply(Request request) override {
    const auto& command = std::get<model::LockCommand>(request.command);
    if (auto allowed = model::admissible(command); !allowed) {
      return Task<Result<Reply>>(std::unexpected(std::move(allowed.error())));
    }
    if (request.stop.stop_requested()) {
      return Task<Result<Reply>>(fail(Errc::cancelled, "cancelled before it began"));
    }
    return apply_there(server_, std::move(request));
  }

  Result<std::unique_ptr<store::Listening>> listen(const LockName&, const OwnerId&,
                                                   model::RequestId request) override {
    return mailbox_.listen(request, process_);
  }

  Task<Result<LockPage>> list(store::ListRequest request) override {
    return list_locks(server_, std::move(request));
  }

  Result<void> supports(const model::LockSpec& spec) const override {
    return options_.dialect.supports(spec);
  }
  OwnerId fresh_owner(Runtime& runtime) const override {
    if (options_.dialect.is_native()) return Store::fresh_owner(runtime);
    return options_.dialect.fresh_owner(runtime);
  }
  store::Capabilities capabilities() const override { return {.queues = true}; }
  std::string describe() const override {
    return fmt::format("{}://{}/{}", options_.endpoint.tls ? "rediss" : "redis", server_->peer(),
                       options_.endpoint.database);
  }

 private:
  // Keeps the server for as long as its answer is waited for.
  static Task<Result<Reply>> apply_there(std::shared_ptr<Server> server, Request request) {
    auto applying = server->apply(std::move(request));
    co_return co_await std::move(applying);
  }

  void deliver(const redisReply& payload) {
    if (payload.type != REDIS_REPLY_STRING) return;
    if (auto told = decode_message(text_of(payload), options_.dialect)) mailbox_.deliver(told->name, told->message);
  }

  void give_back(const LockName& name, const OwnerId& owner, model::RequestId request) {
    model::LockCommand release{.spec = {}, .verb = model::Release{owner, request, true}};
    runtime::spawn(apply(Request{.name = name,
                                 .command = std::move(release),
                                 .deadline = runtime_->now() + give_back_timeout}));
  }

  const Options options_;
  const std::shared_ptr<Runtime> runtime_;
  const model::ProcessId process_;
  store::Mailbox mailbox_;
  const std::shared_ptr<Server> server_;
  std::unique_ptr<Subscriber> subscriber_;
};

}  // namespace

Result<std::shared_ptr<store::Store>> open_redis_store(Options options,
                                                       std::shared_ptr<Runtime> runtime) {
  const auto deadline = runtime->now() + options.endpoint.connect_timeout;
  auto store = std::make_shared<RedisStore>(std::move(options), runtime);
  store->start();
  if (auto ready = runtime::run_blocking(store->ready(deadline)); !ready) {
    return std::unexpected(std::move(ready.error()));
  }
  return store;
}

}  // namespace holdfast::backends::redis
