// SPDX-License-Identifier: Apache-2.0
#include "backends/redis/server.hpp"

#include "backends/redis/error_replies.hpp"
#include "backends/redis/fence_guard.hpp"
#include "backends/redis/idempotency.hpp"
#include "backends/redis/keys.hpp"
#include "backends/redis/rate_limit.hpp"
#include "backends/redis/wire.hpp"
#include "runtime/backoff.hpp"
#include "runtime/event.hpp"
#include "runtime/log.hpp"
#include "runtime/spawn.hpp"

#include <fmt/format.h>

#include <algorithm>
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

// Behind an address that leads to several servers in turn.
constexpr auto until_a_primary = std::chrono::milliseconds(500);

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

}  // namespace

Server::Server(std::shared_ptr<runtime::Runtime> runtime, const Options& options)
    : runtime_(std::move(runtime)),
      endpoint_(options.endpoint),
      peer_(options.endpoint.describe()),
      dialect_(options.dialect),
      replicas_count_(options.replicas > 0),
      always_compares_(options.fence_clock_always),
      scripts_({.dialect = dialect_.profile().script,
                .unit_ms = dialect_.profile().unit_ms,
                .audit = options.audit,
                .prelude = {}}),
      raise_(command("EVAL", scripts_[Script::raise_fence].text, "1", counter_key)) {}

void Server::prepare(Events events) {
  events_ = std::move(events);
  Connection::Events about;
  about.greeting = [weak = weak_from_this()] {
    const auto server = weak.lock();
    return server ? server->greeting() : std::vector<std::string>{};
  };
  about.greeted = [weak = weak_from_this()](std::vector<net::resp::Reply> replies) {
    if (const auto server = weak.lock()) server->greeted(replies);
  };
  about.dropped = [weak = weak_from_this()](const Error&) {
    const auto server = weak.lock();
    if (server && server->events_.disconnected) server->events_.disconnected();
  };
  connection_ = std::make_unique<Connection>(runtime_, endpoint_, std::move(about));
}

// A refused connection or login is told at once; a server that is still loading is waited for, and
// so is a primary for a while, if the address led to a replica.
Task<Result<void>> Server::connected(runtime::LocalTime deadline) {
  const auto self = shared_from_this();
  auto asking = connection_->send(command("PING"), deadline);
  const Result<net::resp::Reply> reply = co_await std::move(asking);
  if (reply) co_return Result<void>{};
  const std::string& why = reply.error().message;
  const bool is_replica = why.find("READONLY") != std::string::npos;
  const bool is_loading = why.find("LOADING") != std::string::npos;
  if (!is_loading && !is_replica) co_return std::unexpected(reply.error());
  const auto patience = is_replica ? runtime_->now() + until_a_primary : deadline;
  auto waiting = connection_->connected(std::min<runtime::LocalTime>(patience, deadline));
  co_return co_await std::move(waiting);
}

std::vector<std::string> Server::greeting() {
  connections_.fetch_add(1);
  // Ahead of every grant on this connection. What is behind the address may have lost the newest
  // fences; the clock has not.
  std::vector<std::string> commands{raise_, command("INFO", "server"),
                                    command("INFO", "replication"), command("INFO", "persistence")};
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
  raised(replies.front());
  if (!look_is_due_.exchange(true)) look_again_later();
  if (!identified(info, true) || !events_.connected) return;
  events_.connected(peer_from(info));
}

void Server::raised(const net::resp::Reply& reply) {
  is_raised_ = reply && !is_error(*reply);
  connection_->set_prepared(is_raised_);
}

void Server::raise_fences() {
  is_raised_ = false;
  connection_->set_prepared(false);
  runtime::spawn(
      ask(raise_, runtime_->now() + look_every),
      [weak = weak_from_this(), before = connection_number()](Result<net::resp::Reply>&& reply) {
        const auto server = weak.lock();
        // The greeting of a later connection has done the same.
        if (!server || !reply || server->connection_number() != before) return;
        server->raised(*reply);
      });
}

// A user without the right to INFO only learns of new connections.
bool Server::identified(std::string_view info, bool is_new_connection) {
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
    runtime::log_warning(fmt::format("store_changed: {}: {}", peer_, what_changed));
  }
  // Its answers are those of yesterday: "not held" may be wrong. The address may lead elsewhere.
  if (is_replica) {
    connection_->reconnect(judge("READONLY", peer_).error);
    return false;
  }
  const bool is_due = !is_raised_ || !what_changed.empty();
  if (is_due && !is_new_connection) raise_fences();
  const bool is_another = is_new_connection && connections_.load() > 1;
  if ((!what_changed.empty() || is_another) && events_.changed) events_.changed();
  return true;
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
  // The difference of two times in whole seconds, so that it may be one too many: it began no later
  // than this.
  std::int64_t seconds = 0;
  const auto& text = now.uptime_s;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), seconds);
  const bool is_told = parsed.ec == std::errc{};
  standing_.up_since.reset();
  if (is_told)
    standing_.up_since = at - std::chrono::seconds(std::max<std::int64_t>(seconds - 1, 0));
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
          if (reply)
            still_there->identified(text_of(**reply), false);
          else if (!still_there->is_raised_)
            still_there->raise_fences();
          still_there->look_again_later();
        });
  });
}

Task<bool> Server::let_pass(Error error, unsigned failures, runtime::LocalTime deadline,
                            bool reconnect) {
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
  sending.compare_clock = always_compares_;
  const bool may_grant = acquire_in(command) != nullptr;
  for (unsigned failures = 0;; ++failures) {
    const bool only_if_prepared = may_grant && !sending.compare_clock;
    auto asking =
        connection_->send(bytes_of(request, scripts_, dialect_, sending), request.deadline,
                          request.stop, {.only_if_prepared = only_if_prepared});
    Result<net::resp::Reply> reply = co_await std::move(asking);
    if (!reply) co_return std::unexpected(std::move(reply.error()));
    // The connection that it was about to leave by has no raised counter.
    if (!*reply) {
      sending.compare_clock = true;
      continue;
    }
    if (!is_error(**reply)) {
      has_answered_.store(true, std::memory_order_relaxed);
      Result<Reply> answer = answer_to(command, **reply);
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
  auto asking = connection_->send(std::move(command), deadline, {}, {.replies = replies});
  Result<net::resp::Reply> reply = co_await std::move(asking);
  if (reply && is_error(**reply)) {
    co_return std::unexpected(judge(text_of(**reply), peer_).error);
  }
  co_return reply;
}

}  // namespace holdfast::backends::redis
