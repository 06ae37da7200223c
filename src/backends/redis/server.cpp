// SPDX-License-Identifier: Apache-2.0
#include "backends/redis/server.hpp"

#include "backends/redis/error_replies.hpp"
#include "backends/redis/fence_guard.hpp"
#include "backends/redis/idempotency.hpp"
#include "backends/redis/rate_limit.hpp"
#include "backends/redis/wire.hpp"
#include "runtime/backoff.hpp"
#include "runtime/event.hpp"
#include "runtime/log.hpp"
#include "runtime/spawn.hpp"

#include <fmt/format.h>

#include <charconv>

namespace holdfast::backends::redis {

namespace {

using net::resp::command;
using net::resp::Connection;
using net::resp::is_error;
using net::resp::text_of;
using store::Reply;
using store::Request;
using Then = Refusal::Then;

constexpr runtime::Backoff between_retries{.first = std::chrono::milliseconds(5),
                                           .cap = std::chrono::milliseconds(100)};
// How often the server is asked who it is. While it answers our scripts, most of which a replica
// refuses, it need not be asked each time: a waiting client should cost next to nothing.
constexpr auto look_every = std::chrono::seconds(1);
constexpr auto look_seldom = std::chrono::seconds(4);

std::string bytes_of(const Request& request, const Scripts& scripts, const Dialect& dialect,
                     Sending sending) {
  if (const auto* check = std::get_if<model::GuardCommand>(&request.command)) {
    return encode_check(scripts, request.name, *check, sending);
  }
  if (const auto* rate = std::get_if<model::RateCommand>(&request.command)) {
    return encode_rate(scripts, request.name, *rate, sending);
  }
  if (const auto* run = std::get_if<model::RunCommand>(&request.command)) {
    return encode_run(scripts, request.name, *run, sending);
  }
  const auto& command = std::get<model::LockCommand>(request.command);
  return encode(scripts, dialect, request.name, command, sending);
}

Result<Reply> answer_to(const model::Command& command, const redisReply& reply) {
  if (std::holds_alternative<model::GuardCommand>(command)) return decode_check(reply);
  if (const auto* rate = std::get_if<model::RateCommand>(&command)) {
    return decode_rate(*rate, reply);
  }
  if (std::holds_alternative<model::RunCommand>(command)) return decode_run(reply);
  return decode(std::get<model::LockCommand>(command), reply);
}

const model::Acquire* acquire_in(const model::Command& command) {
  const auto* lock = std::get_if<model::LockCommand>(&command);
  return lock != nullptr ? std::get_if<model::Acquire>(&lock->verb) : nullptr;
}

bool is_grant(const model::Command& command, const Result<Reply>& answer) {
  return answer && acquire_in(command) != nullptr &&
         std::holds_alternative<model::Granted>(std::get<model::LockOutcome>(answer->outcome));
}

}  // namespace

Server::Server(std::shared_ptr<runtime::Runtime> runtime, const Options& options)
    : runtime_(std::move(runtime)),
      endpoint_(options.endpoint),
      peer_(options.endpoint.describe()),
      dialect_(options.dialect),
      replicas_count_(options.replicas > 0),
      scripts_({.dialect = dialect_.profile().script,
                .unit_ms = dialect_.profile().unit_ms,
                .audit = options.audit,
                .prelude = {}}) {}

void Server::start(Events events) {
  events_ = std::move(events);
  Connection::Events about;
  about.greeting = [weak = weak_from_this()] {
    const auto server = weak.lock();
    return server ? server->greeting() : std::vector<std::string>{};
  };
  about.greeted = [weak = weak_from_this()](std::vector<net::resp::Reply> replies) {
    if (const auto server = weak.lock()) server->greeted(replies);
  };
  connection_ = std::make_unique<Connection>(runtime_, endpoint_, std::move(about));
}

// A refused connection or login is told at once; a server that is still loading is waited for.
Task<Result<void>> Server::connected(runtime::LocalTime deadline) {
  const auto self = shared_from_this();
  auto asking = connection_->send(command("PING"), deadline);
  const Result<net::resp::Reply> reply = co_await std::move(asking);
  if (reply) co_return Result<void>{};
  const bool is_loading = reply.error().message.find("LOADING") != std::string::npos;
  if (!is_loading) co_return std::unexpected(reply.error());
  auto waiting = connection_->connected(deadline);
  co_return co_await std::move(waiting);
}

std::vector<std::string> Server::greeting() {
  resync_.store(true);
  connections_.fetch_add(1);
  std::vector<std::string> commands{command("INFO", "server"), command("INFO", "replication"),
                                    command("INFO", "persistence")};
  if (events_.greeting) {
    for (auto& more : events_.greeting()) commands.push_back(std::move(more));
  }
  return commands;
}

void Server::greeted(const std::vector<net::resp::Reply>& replies) {
  std::string info;
  for (const auto& reply : replies) {
    if (reply && reply->type == REDIS_REPLY_STRING) info.append(text_of(*reply));
  }
  identified(info, true);
  if (!look_is_due_.exchange(true)) look_again_later();
}

// A user without the right to INFO only learns of new connections.
void Server::identified(std::string_view info, bool is_new_connection) {
  std::string what_changed;
  bool is_replica = false;
  {
    const std::lock_guard lock(mutex_);
    auto now = identity_from(info, identity_);
    what_changed = difference(identity_, now);
    note_standing(identity_, now);
    identity_ = std::move(now);
    is_replica = identity_.role == "slave";
  }
  if (!what_changed.empty()) {
    resync_.store(true);
    runtime::log_warning(fmt::format("store_changed: {}: {}", peer_, what_changed));
  }
  // Its answers are those of yesterday: "not held" may be wrong. The address may lead elsewhere.
  if (is_replica) {
    return connection_->reconnect(judge("READONLY", peer_).error);
  }
  const bool is_another = is_new_connection && connections_.load() > 1;
  if ((!what_changed.empty() || is_another) && events_.changed) events_.changed();
}

void Server::note_standing(const ServerIdentity& before, const ServerIdentity& now) {
  standing_.keeps_memory = now.aof_enabled == "1";
  const auto at = runtime_->now();
  const bool has_other_data =
      !before.replication_id.empty() && before.replication_id != now.replication_id;
  if (has_other_data) standing_.replaced_at = at;
  if (before.run_id == now.run_id) return;
  if (!before.run_id.empty()) standing_.replaced_at = at;
  standing_.server = now.run_id;
  standing_.place = std::to_string(endpoint_.database);
  // Whole seconds, cut off: it began no later than this.
  std::int64_t seconds = 0;
  const auto& text = now.uptime_s;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), seconds);
  const bool is_told = parsed.ec == std::errc{};
  standing_.up_since.reset();
  if (is_told) standing_.up_since = at - std::chrono::seconds(seconds);
}

store::Standing Server::standing() const {
  const std::lock_guard lock(mutex_);
  return standing_;
}

void Server::look_again_later() {
  const bool is_alive = has_answered_.exchange(false);
  const auto when = runtime_->now() + (is_alive ? look_seldom : look_every);
  runtime_->schedule(when, [weak = weak_from_this()] {
    const auto server = weak.lock();
    if (!server) return;
    runtime::spawn(
        server->ask(command("INFO", "replication"), server->runtime_->now() + look_every),
        [weak](Result<net::resp::Reply>&& reply) {
          const auto still_there = weak.lock();
          if (!still_there) return;
          if (reply) still_there->identified(text_of(**reply), false);
          still_there->look_again_later();
        });
  });
}

Task<bool> Server::let_pass(Error error, unsigned failures, runtime::LocalTime deadline,
                            bool reconnect) {
  resync_.store(true);
  if (reconnect) connection_->reconnect(std::move(error));
  const auto delay = next_delay(between_retries, failures, runtime_->random());
  if (runtime_->now() + delay >= deadline) co_return false;
  runtime::Event nobody(runtime_);
  co_await nobody.wait_until(runtime_->now() + delay);
  co_return true;
}

Task<Result<Reply>> Server::apply(Request request) {
  const auto self = shared_from_this();
  const model::Command& command = request.command;
  Sending sending;
  sending.must_write = replicas_count_;
  for (unsigned failures = 0;; ++failures) {
    sending.resync = resync_.load(std::memory_order_relaxed);
    auto asking = connection_->send(bytes_of(request, scripts_, dialect_, sending),
                                    request.deadline, request.stop);
    Result<net::resp::Reply> reply = co_await std::move(asking);
    if (!reply) co_return std::unexpected(std::move(reply.error()));
    if (!is_error(**reply)) {
      has_answered_.store(true, std::memory_order_relaxed);
      Result<Reply> answer = answer_to(command, **reply);
      // Only a grant that was compared with the clock makes the counter good again.
      if (sending.resync && is_grant(command, answer)) {
        resync_.store(false, std::memory_order_relaxed);
      }
      const auto* acquire = events_.behind_a_stranger ? acquire_in(command) : nullptr;
      if (acquire != nullptr && is_behind_a_stranger(**reply)) {
        events_.behind_a_stranger(request.name, acquire->request);
      }
      co_return answer;
    }
    Refusal refusal = judge(text_of(**reply), peer_);
    if (refusal.then == Then::load_script && !sending.by_text) {
      sending.by_text = true;
      continue;
    }
    if (refusal.then != Then::retry && refusal.then != Then::change_server) {
      co_return std::unexpected(std::move(refusal.error));
    }
    auto waiting =
        let_pass(refusal.error, failures, request.deadline, refusal.then == Then::change_server);
    if (!co_await std::move(waiting)) co_return std::unexpected(std::move(refusal.error));
  }
}

Task<Result<net::resp::Reply>> Server::ask(std::string command, runtime::LocalTime deadline,
                                           unsigned replies) {
  const auto self = shared_from_this();
  auto asking = connection_->send(std::move(command), deadline, {}, replies);
  Result<net::resp::Reply> reply = co_await std::move(asking);
  if (reply && is_error(**reply)) {
    co_return std::unexpected(judge(text_of(**reply), peer_).error);
  }
  co_return reply;
}

}  // namespace holdfast::backends::redis
