// SPDX-License-Identifier: Apache-2.0
#include "backends/redis/strangers.hpp"

#include "net/resp/command.hpp"
#include "runtime/spawn.hpp"

#include <algorithm>

namespace holdfast::backends::redis {

namespace {

using net::resp::command;
using net::resp::text_of;

constexpr Micros ask_timeout = std::chrono::milliseconds(500);

std::string tracking_command(std::uint64_t client_id) {
  return command("CLIENT", "TRACKING", "ON", "REDIRECT", std::to_string(client_id), "OPTIN",
                 "NOLOOP");
}

}  // namespace

Strangers::Strangers(std::shared_ptr<Server> server, std::shared_ptr<store::Mailbox> mailbox)
    : server_(std::move(server)), mailbox_(std::move(mailbox)) {}

// Whatever was tracked before leads to a connection that is gone, silently: everybody asks again,
// and is registered anew.
void Strangers::redirect_to(std::uint64_t client_id) {
  {
    const std::lock_guard lock(mutex_);
    client_id_ = client_id;
    waiting_.clear();
  }
  if (client_id == 0) return;
  // A redirection is not changed but made anew.
  runtime::spawn(server_->ask(command("CLIENT", "TRACKING", "OFF") + tracking_command(client_id),
                              server_->runtime()->now() + ask_timeout, 2));
}

std::vector<std::string> Strangers::greeting() {
  const std::lock_guard lock(mutex_);
  waiting_.clear();
  if (client_id_ == 0) return {};
  return {tracking_command(client_id_)};
}

void Strangers::wait_for(const LockName& name, model::RequestId request) {
  const std::string key = server_->dialect().shared_keys(name).front();
  {
    const std::lock_guard lock(mutex_);
    auto& requests = waiting_[key];
    std::erase_if(requests, [this](auto each) { return !mailbox_->hears(each); });
    const bool is_tracked = !requests.empty();
    if (std::ranges::find(requests, request) == requests.end()) requests.push_back(request);
    if (is_tracked) return;
  }
  runtime::spawn(track(key));
}

Task<bool> Strangers::track(std::string key) {
  const auto self = shared_from_this();
  const bool is_hash = server_->dialect().profile().dialect == "reentrant_hash";
  auto reading = server_->ask(
      command("CLIENT", "CACHING", "YES") + command(is_hash ? "HLEN" : "STRLEN", key),
      server_->runtime()->now() + ask_timeout, 2);
  const Result<net::resp::Reply> length = co_await std::move(reading);
  // Gone since the waiter was told of it: nothing more will be said.
  const bool is_there = length && (*length)->integer > 0;
  if (!is_there) wake_first(key);
  co_return is_there;
}

void Strangers::wake_first(const std::string& key) {
  std::optional<model::RequestId> first;
  {
    const std::lock_guard lock(mutex_);
    const auto found = waiting_.find(key);
    if (found == waiting_.end()) return;
    const auto listens = [this](auto each) { return mailbox_->hears(each); };
    const auto heard = std::ranges::find_if(found->second, listens);
    if (heard != found->second.end()) first = *heard;
    // It was a one-time promise: whoever asks and still finds a stranger is registered again.
    waiting_.erase(found);
  }
  if (first) mailbox_->hint(*first);
}

void Strangers::changed(const redisReply& keys) {
  if (keys.type != REDIS_REPLY_ARRAY) {
    {
      const std::lock_guard lock(mutex_);
      waiting_.clear();
    }
    return mailbox_->hint_all();
  }
  for (std::size_t i = 0; i < keys.elements; ++i) wake_first(std::string(text_of(*keys.element[i])));
}

}  // namespace holdfast::backends::redis
