// SPDX-License-Identifier: Apache-2.0
#include "backends/redis/subscription.hpp"

#include "net/resp/command.hpp"
#include "runtime/log.hpp"
#include "runtime/spawn.hpp"

#include <fmt/format.h>

#include <utility>

namespace holdfast::backends::redis {

namespace {

using net::resp::Subscriber;
using Answer = Placement::Answer;

constexpr Micros question_timeout = std::chrono::milliseconds(500);
constexpr Micros between_questions_about_listeners = std::chrono::milliseconds(100);

// Asked as the scripts ask, so that an answer here means that they get one too.
std::string count_listeners(const std::string& channel) {
  constexpr std::string_view script =
      "local listeners = redis.pcall('PUBSUB', 'NUMSUB', ARGV[1])\n"
      "return listeners.err and -1 or listeners[2]";
  return net::resp::command("EVAL", script, "0", channel);
}

Answer answer_from(const Result<net::resp::Reply>& reply) {
  // A server that is busy, or one that is reached again, may answer later.
  if (!reply || (*reply)->type != REDIS_REPLY_INTEGER) return Answer::lost;
  if ((*reply)->integer < 0) return Answer::refused;
  return (*reply)->integer > 0 ? Answer::somebody : Answer::nobody;
}

}  // namespace

Subscription::Subscription(std::shared_ptr<Server> server, net::resp::Endpoint endpoint,
                           std::vector<std::string> channels)
    : server_(std::move(server)), endpoint_(std::move(endpoint)), channels_(std::move(channels)) {}

void Subscription::prepare(Events events) {
  events_ = std::move(events);
  Subscriber::Events about;
  about.questions = {net::resp::command("INFO", "server"),
                     net::resp::command("INFO", "replication")};
  about.message = events_.message;
  about.subscribed = [weak = weak_from_this()](std::uint64_t client_id,
                                               const std::vector<net::resp::Reply>& answers) {
    if (const auto self = weak.lock()) self->subscribed(client_id, answers);
  };
  about.dropped = [weak = weak_from_this()](const Error&) {
    if (const auto self = weak.lock()) self->dropped();
  };
  subscriber_ =
      std::make_unique<Subscriber>(server_->runtime(), endpoint_, channels_, std::move(about));
}

void Subscription::connected(const Placement::Peer& server) {
  std::unique_lock lock(mutex_);
  const Then then = placement_.connected(server);
  lock.unlock();
  go_on(then);
}

void Subscription::disconnected() {
  const std::lock_guard lock(mutex_);
  placement_.disconnected();
}

void Subscription::subscribed(std::uint64_t client_id,
                              const std::vector<net::resp::Reply>& answers) {
  std::string info;
  for (const auto& answer : answers) {
    if (answer->type == REDIS_REPLY_STRING) info.append(net::resp::text_of(*answer));
  }
  std::unique_lock lock(mutex_);
  const Then then = placement_.subscribed(peer_from(info));
  lock.unlock();
  if (then != Then::subscribe_anew) events_.subscribed(client_id);
  go_on(then);
}

void Subscription::dropped() {
  std::unique_lock lock(mutex_);
  placement_.unsubscribed();
  lock.unlock();
  events_.subscribed(0);
}

void Subscription::go_on(Then then) {
  switch (then) {
    case Then::nothing: return;
    case Then::ask: return ask();
    case Then::ask_later:
      server_->runtime()->schedule(server_->runtime()->now() + between_questions_about_listeners,
                                   [weak = weak_from_this()] {
                                     if (const auto self = weak.lock()) self->ask();
                                   });
      return;
    case Then::subscribe_anew: return leave_server();
  }
}

void Subscription::leave_server() {
  std::unique_lock lock(mutex_);
  const bool is_news = placement_.is_connected() && !std::exchange(has_warned_, true);
  lock.unlock();
  if (is_news) {
    runtime::log_warning(fmt::format(
        "subscription_elsewhere: {}: messages came from another server than the answers",
        server_->peer()));
  }
  subscriber_->subscribe_anew(
      {Errc::unavailable,
       fmt::format("{}: the address leads to several servers, and the subscription was not on the "
                   "one that answers commands",
                   server_->peer())});
}

void Subscription::ask() {
  std::unique_lock lock(mutex_);
  const auto question = placement_.question();
  lock.unlock();
  auto& runtime = *server_->runtime();
  runtime::spawn(server_->ask(count_listeners(channels_.front()), runtime.now() + question_timeout),
                 [weak = weak_from_this(), question](Result<net::resp::Reply>&& reply) {
                   if (const auto self = weak.lock()) self->answered(question, reply);
                 });
}

void Subscription::answered(std::uint64_t question, const Result<net::resp::Reply>& reply) {
  std::unique_lock lock(mutex_);
  const Then then = placement_.answered(question, answer_from(reply));
  if (placement_.is_settled()) has_warned_ = false;
  const auto told = placement_.is_settled() ? std::exchange(waiting_, {}) : decltype(waiting_){};
  lock.unlock();
  for (const auto& each : told) each->notify();
  go_on(then);
}

bool Subscription::is_proven() const {
  const std::lock_guard lock(mutex_);
  return placement_.is_proven();
}

std::shared_ptr<runtime::Event> Subscription::wait_for_proof() {
  const std::lock_guard lock(mutex_);
  if (placement_.is_settled()) return nullptr;
  return waiting_.emplace_back(std::make_shared<runtime::Event>(server_->runtime()));
}

Task<Result<void>> Subscription::settled(runtime::LocalTime deadline) {
  const auto self = shared_from_this();
  while (const auto event = wait_for_proof()) {
    auto waiting = event->wait_until(deadline);
    if (co_await waiting) continue;
    {
      const std::lock_guard lock(mutex_);
      std::erase(waiting_, event);
    }
    // Where it stands says why.
    auto subscribing = subscriber_->subscribed(server_->runtime()->now());
    const Result<void> stands = co_await std::move(subscribing);
    if (!stands) co_return stands;
    co_return fail(Errc::unavailable,
                   fmt::format("{}: could not find out whether messages come from the server that "
                               "answers commands",
                               server_->peer()));
  }
  co_return Result<void>{};
}

std::vector<std::string> Subscription::trouble() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> found;
  if (placement_.misplaced_at_first() > 0) {
    found.push_back(
        fmt::format("{}: the address leads to several servers in turn ({} times the subscription "
                    "was on another "
                    "one than the commands); give the primary's own address",
                    server_->peer(), placement_.misplaced_at_first()));
  }
  if (placement_.is_settled() && !placement_.is_proven()) {
    found.push_back(fmt::format(
        "{}: this user may not run PUBSUB NUMSUB: each hand-over costs a further round trip",
        server_->peer()));
  }
  return found;
}

}  // namespace holdfast::backends::redis
