// SPDX-License-Identifier: Apache-2.0
#include "net/resp/subscriber.hpp"

#include "net/resp/command.hpp"
#include "net/resp/session.hpp"
#include "runtime/event.hpp"
#include "runtime/fork.hpp"

#include <fmt/format.h>

#include <mutex>
#include <utility>

namespace holdfast::net::resp {

using runtime::LocalTime;
using runtime::TimerId;

namespace {

bool is_array_of(const redisReply& reply, std::string_view first, std::size_t elements) {
  return reply.type == REDIS_REPLY_ARRAY && reply.elements == elements &&
         reply.element[0]->type == REDIS_REPLY_STRING && text_of(*reply.element[0]) == first;
}

}  // namespace

class Subscriber::Shared final : public Session::Owner,
                                 public std::enable_shared_from_this<Subscriber::Shared> {
 public:
  Shared(std::shared_ptr<runtime::Runtime> runtime, Endpoint endpoint,
         std::vector<std::string> channels, Events events)
      : runtime_(std::move(runtime)),
        endpoint_(std::move(endpoint)),
        channels_(std::move(channels)),
        events_(std::move(events)),
        last_error_{Errc::unavailable,
                    fmt::format("{}: not subscribed yet", endpoint_.describe())} {}

  void make_session() {
    session_ = std::make_shared<Session>(runtime_, endpoint_, weak_from_this());
  }
  void start() { session_->start(); }
  void subscribe_anew(Error why) { session_->drop(std::move(why), true); }
  void close();
  bool is_of_a_parent() const { return generation_ != runtime::fork_generation(); }
  // Is never destroyed.
  void stay() { kept_ = shared_from_this(); }
  std::string peer() const { return endpoint_.describe(); }

  bool is_subscribed() const {
    const std::lock_guard lock(mutex_);
    return is_subscribed_;
  }
  // Notified when subscribed or closed; nothing if that is so already.
  std::shared_ptr<runtime::Event> wait_for_change();
  Result<void> verdict() const;

  void connecting() override {}
  Opening greeting() override;
  Result<void> greeted(std::vector<Reply> replies) override;
  void came_up(std::shared_ptr<Link> link) override;
  Result<void> received(std::vector<Reply>& replies) override;
  void went_down(const Error& why) override;
  void backing_off(const Error& why) override;

 private:
  std::vector<std::shared_ptr<runtime::Event>> change(bool is_subscribed, const Error* why);
  bool is_open() const {
    const std::lock_guard lock(mutex_);
    return !is_closed_;
  }
  void listen_for_silence(LocalTime when);
  void check_silence();

  const std::shared_ptr<runtime::Runtime> runtime_;
  const Endpoint endpoint_;
  const std::vector<std::string> channels_;
  const Events events_;
  const std::uint32_t generation_ = runtime::fork_generation();
  std::shared_ptr<Session> session_;
  std::shared_ptr<Shared> kept_;  // in a forked child

  // These belong to the loop's thread.
  std::shared_ptr<Link> link_;
  std::uint64_t client_id_ = 0;
  std::vector<Reply> answers_;
  LocalTime last_heard_{};
  bool has_asked_ = false;
  TimerId timer_{};

  mutable std::mutex mutex_;
  // All below is guarded by mutex_.
  bool is_closed_ = false;
  bool is_subscribed_ = false;
  Error last_error_;
  std::vector<std::shared_ptr<runtime::Event>> waiting_;
};

void Subscriber::Shared::close() {
  std::unique_lock lock(mutex_);
  is_closed_ = true;
  is_subscribed_ = false;
  last_error_ = {Errc::unavailable, fmt::format("{}: the subscriber was closed", peer())};
  lock.unlock();
  runtime_->post([self = shared_from_this()] {
    self->session_->close();
    self->link_.reset();
    if (self->timer_ != TimerId::none) self->runtime_->cancel(self->timer_);
    for (const auto& event : self->change(false, nullptr)) event->notify();
  });
}

std::shared_ptr<runtime::Event> Subscriber::Shared::wait_for_change() {
  const std::lock_guard lock(mutex_);
  if (is_subscribed_ || is_closed_) return nullptr;
  return waiting_.emplace_back(std::make_shared<runtime::Event>(runtime_));
}

Result<void> Subscriber::Shared::verdict() const {
  const std::lock_guard lock(mutex_);
  if (is_subscribed_) return {};
  return std::unexpected(last_error_);
}

// Gives those who waited, if there is something to tell them.
std::vector<std::shared_ptr<runtime::Event>> Subscriber::Shared::change(bool is_subscribed,
                                                                        const Error* why) {
  const std::lock_guard lock(mutex_);
  is_subscribed_ = is_subscribed && !is_closed_;
  if (why && !is_closed_) last_error_ = *why;
  if (!is_subscribed_ && !is_closed_) return {};
  return std::exchange(waiting_, {});
}

Opening Subscriber::Shared::greeting() {
  const auto& questions = events_.questions;
  Opening opening{
      .replies = questions.size() + 1, .an_error_ends_it = true, .may_fail = questions.size()};
  for (const std::string& question : questions) opening.bytes += question;
  opening.bytes += command("CLIENT", "ID");
  if (channels_.empty()) return opening;
  Command subscribe(1 + channels_.size());
  subscribe.add("SUBSCRIBE");
  for (const std::string& channel : channels_) subscribe.add(channel);
  opening.bytes += std::move(subscribe).take();
  opening.replies += channels_.size();
  return opening;
}

Result<void> Subscriber::Shared::greeted(std::vector<Reply> replies) {
  const std::size_t asked = events_.questions.size();
  if (replies[asked]->type != REDIS_REPLY_INTEGER) {
    return fail(Errc::unavailable, "CLIENT ID did not give a number");
  }
  client_id_ = static_cast<std::uint64_t>(replies[asked]->integer);
  for (std::size_t i = asked + 1; i < replies.size(); ++i) {
    if (is_array_of(*replies[i], "subscribe", 3)) continue;
    return fail(Errc::unavailable, "SUBSCRIBE was not confirmed");
  }
  replies.resize(asked);
  answers_ = std::move(replies);
  return {};
}

void Subscriber::Shared::came_up(std::shared_ptr<Link> link) {
  link_ = std::move(link);
  last_heard_ = runtime_->now();
  has_asked_ = false;
  listen_for_silence(last_heard_ + endpoint_.silence);
  const auto waited = change(true, nullptr);
  if (events_.subscribed && is_open()) events_.subscribed(client_id_, answers_);
  for (const auto& event : waited) event->notify();
}

Result<void> Subscriber::Shared::received(std::vector<Reply>& replies) {
  last_heard_ = runtime_->now();
  if (std::exchange(has_asked_, false)) {
    runtime_->cancel(timer_);
    listen_for_silence(last_heard_ + endpoint_.silence);
  }
  for (const Reply& reply : replies) {
    // What else there is, a PONG above all, only shows that the server lives.
    if (!is_array_of(*reply, "message", 3)) continue;
    if (events_.message && is_open()) {
      events_.message(text_of(*reply->element[1]), *reply->element[2]);
    }
  }
  return {};
}

void Subscriber::Shared::went_down(const Error& why) {
  link_.reset();
  if (timer_ != TimerId::none) runtime_->cancel(std::exchange(timer_, TimerId::none));
  change(false, &why);
  if (events_.dropped && is_open()) events_.dropped(why);
}

void Subscriber::Shared::backing_off(const Error& why) { change(false, &why); }

void Subscriber::Shared::listen_for_silence(LocalTime when) {
  timer_ = runtime_->schedule(when, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->check_silence();
  });
}

void Subscriber::Shared::check_silence() {
  timer_ = TimerId::none;
  if (!link_) return;
  const auto now = runtime_->now();
  const auto ask_at = last_heard_ + endpoint_.silence;
  if (!has_asked_ && now < ask_at) return listen_for_silence(ask_at);
  if (has_asked_) return session_->drop(session_->error("the server does not answer PING"));
  has_asked_ = true;
  static const std::string ping = command("PING");
  // An error shows at the reading end as well.
  link_->write(ping, [](const auto&, std::size_t) {});
  listen_for_silence(now + endpoint_.command_timeout);
}

namespace {

template <typename Shared>
Task<Result<void>> wait_subscribed(std::shared_ptr<Shared> shared, LocalTime deadline) {
  while (const auto event = shared->wait_for_change()) {
    auto waiting = event->wait_until(deadline);
    if (!co_await waiting) break;
  }
  co_return shared->verdict();
}

}  // namespace

Subscriber::Subscriber(std::shared_ptr<runtime::Runtime> runtime, Endpoint endpoint,
                       std::vector<std::string> channels, Events events)
    : shared_(std::make_shared<Shared>(std::move(runtime), std::move(endpoint), std::move(channels),
                                       std::move(events))) {
  shared_->make_session();
}

void Subscriber::start() { shared_->start(); }

void Subscriber::subscribe_anew(Error why) {
  if (!shared_->is_of_a_parent()) shared_->subscribe_anew(std::move(why));
}

Subscriber::~Subscriber() {
  // The child shares the parent's epoll: closing a socket here would take it from the parent.
  if (shared_->is_of_a_parent())
    shared_->stay();
  else
    shared_->close();
}

bool Subscriber::is_subscribed() const {
  return !shared_->is_of_a_parent() && shared_->is_subscribed();
}

Task<Result<void>> Subscriber::subscribed(LocalTime deadline) {
  if (shared_->is_of_a_parent()) {
    return Task<Result<void>>(fail(Errc::unavailable, "the subscriber belongs to the parent"));
  }
  return wait_subscribed(shared_, deadline);
}

}  // namespace holdfast::net::resp
