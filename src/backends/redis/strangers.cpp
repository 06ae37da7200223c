// SPDX-License-Identifier: Apache-2.0
#include "backends/redis/strangers.hpp"

#include "net/resp/command.hpp"
#include "runtime/spawn.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::backends::redis {

namespace {

using net::resp::command;
using net::resp::text_of;

constexpr Micros track_timeout = std::chrono::milliseconds(500);

// Our own changes are told too (no NOLOOP): they end the tracking of a key just as others do, and
// whoever waits must know.
std::string tracking_command(std::uint64_t client_id) {
  return command("CLIENT", "TRACKING", "ON", "REDIRECT", std::to_string(client_id), "OPTIN");
}

}  // namespace

// Reads nothing of a key but that it is there, whatever its type, which is enough to track it.
std::string track(const std::vector<std::string>& keys) {
  net::resp::Command look(1 + keys.size());
  look.add("EXISTS");
  for (const auto& key : keys) look.add(key);
  return command("CLIENT", "CACHING", "YES") + std::move(look).take();
}

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
                              server_->runtime()->now() + track_timeout, 2));
}

std::vector<std::string> Strangers::greeting() {
  const std::lock_guard lock(mutex_);
  waiting_.clear();
  if (client_id_ == 0) return {};
  return {tracking_command(client_id_)};
}

void Strangers::wait_for(const LockName& name, model::RequestId request) {
  auto keys = server_->dialect().tracked_keys(name);
  {
    const std::lock_guard lock(mutex_);
    auto& [requests, is_tracked] = waiting_[keys.front()];
    std::erase_if(requests, [this](auto each) { return !mailbox_->hears(each); });
    if (requests.empty()) is_tracked = false;
    if (std::ranges::find(requests, request) == requests.end()) requests.push_back(request);
    if (std::exchange(is_tracked, true)) return;
  }
  runtime::spawn(track(std::move(keys)));
}

Task<bool> Strangers::track(std::vector<std::string> keys) {
  const auto self = shared_from_this();
  auto looking = server_->ask(redis::track(keys), server_->runtime()->now() + track_timeout, 2);
  const Result<net::resp::Reply> found = co_await std::move(looking);
  // Gone since the waiter was told of it: nothing more will be said.
  const bool is_there = found && (*found)->integer > 0;
  if (!is_there) wake_first(keys.front());
  co_return is_there;
}

void Strangers::wake_first(const std::string& key) {
  std::optional<model::RequestId> first;
  {
    const std::lock_guard lock(mutex_);
    const auto found = waiting_.find(key);
    if (found == waiting_.end()) return;
    auto& [requests, is_tracked] = found->second;
    std::erase_if(requests, [this](auto each) { return !mailbox_->hears(each); });
    // It was a one-time promise: whoever asks and still finds a stranger is registered again.
    is_tracked = false;
    if (!requests.empty()) {
      first = requests.front();
      requests.erase(requests.begin());
    }
    if (requests.empty()) waiting_.erase(found);
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
  for (std::size_t i = 0; i < keys.elements; ++i) {
    wake_first(std::string(server_->dialect().first_shared_key(text_of(*keys.element[i]))));
  }
}

}  // namespace holdfast::backends::redis
