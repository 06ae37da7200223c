// SPDX-License-Identifier: Apache-2.0
#include "backends/redis/defence.hpp"

#include <holdfast/options.hpp>

#include "net/resp/command.hpp"
#include "runtime/spawn.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::backends::redis {

namespace {

using net::resp::command;
using net::resp::text_of;

constexpr Micros ask_timeout = std::chrono::milliseconds(500);

// Tracked once: the first change ends it. Whatever the key is, EXISTS reads it.
std::string track(const std::vector<std::string>& keys) {
  net::resp::Command look(1 + keys.size());
  look.add("EXISTS");
  for (const auto& key : keys) look.add(key);
  return command("CLIENT", "CACHING", "YES") + std::move(look).take();
}

}  // namespace

void Defence::heard(const LockName& name, const model::LockCommand& command,
                    const store::Reply& reply) {
  const auto& outcome = std::get<model::LockOutcome>(reply.outcome);
  const auto* granted = std::get_if<model::Granted>(&outcome);
  if (granted == nullptr) {
    // Somebody else may hold it by now; then the key is not ours to defend.
    if (std::holds_alternative<model::Released>(outcome) ||
        std::holds_alternative<model::Forced>(outcome)) {
      const std::lock_guard lock(mutex_);
      leases_.erase(server_->dialect().shared_keys(name).front());
    }
    return;
  }
  const auto ends = server_->runtime()->now() + granted->remaining;
  if (const auto* acquire = std::get_if<model::Acquire>(&command.verb)) {
    stand_up_for({name, acquire->owner, acquire->request, ends});
  } else if (const auto* renew = std::get_if<model::Renew>(&command.verb)) {
    stand_up_for({name, renew->owner, renew->request, ends});
  }
}

void Defence::stand_up_for(Lease lease) {
  auto key = server_->dialect().shared_keys(lease.name).front();
  {
    const std::lock_guard lock(mutex_);
    if (leases_.size() >= sweep_at_) {
      const auto now = server_->runtime()->now();
      std::erase_if(leases_, [now](const auto& each) { return each.second.ends <= now; });
      sweep_at_ = 2 * std::max<std::size_t>(leases_.size(), 32);
    }
    const auto found = leases_.find(key);
    if (found != leases_.end() && found->second.owner == lease.owner &&
        found->second.request == lease.request) {
      found->second.ends = lease.ends;
      return;
    }
    // Whoever looks after the lease before it goes on with this one.
    const bool is_looked_after = found != leases_.end() && found->second.is_looked_after;
    lease.is_looked_after = true;
    lease.must_look_again = is_looked_after;
    leases_.insert_or_assign(key, std::move(lease));
    if (is_looked_after) return;
  }
  runtime::spawn(look_after(std::move(key)));
}

void Defence::changed(const std::string& key) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = leases_.find(key);
    if (found == leases_.end()) return;
    if (std::exchange(found->second.is_looked_after, true)) {
      found->second.must_look_again = true;
      return;
    }
  }
  runtime::spawn(look_after(key));
}

void Defence::changed(const redisReply& keys) {
  if (keys.type != REDIS_REPLY_ARRAY) return all_may_have_changed();
  for (std::size_t i = 0; i < keys.elements; ++i) {
    changed(std::string(server_->dialect().first_shared_key(text_of(*keys.element[i]))));
  }
}

void Defence::all_may_have_changed() {
  std::vector<std::string> keys;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [key, lease] : leases_) keys.push_back(key);
  }
  for (const auto& key : keys) changed(key);
}

Task<bool> Defence::look_after(std::string key) {
  const auto self = shared_from_this();
  while (true) {
    std::optional<Lease> lease;
    {
      const std::lock_guard lock(mutex_);
      const auto found = leases_.find(key);
      if (found == leases_.end()) co_return false;
      found->second.must_look_again = false;
      lease = found->second;
    }
    auto setting_back = set_back(std::move(*lease));
    const bool is_held = co_await std::move(setting_back);
    if (is_done(key, is_held)) co_return is_held;
  }
}

bool Defence::is_done(const std::string& key, bool is_held) {
  const std::lock_guard lock(mutex_);
  const auto found = leases_.find(key);
  if (found == leases_.end()) return true;
  if (found->second.must_look_again) return false;
  if (is_held) {
    found->second.is_looked_after = false;
  } else {
    leases_.erase(found);
  }
  return true;
}

// Tracking comes first: what is changed after it is told, what was changed before is set back. If
// that writes, it is told too, and the next round finds everything in place.
Task<bool> Defence::set_back(Lease lease) {
  const auto& runtime = server_->runtime();
  const auto keys = server_->dialect().shared_keys(lease.name);
  auto tracking = server_->ask(track(keys), runtime->now() + ask_timeout, 2);
  const Result<net::resp::Reply> tracked = co_await std::move(tracking);
  // Without a connection nothing can be done; the next one calls all_may_have_changed.
  if (!tracked) co_return true;
  model::LockCommand renew{.spec = {}, .verb = model::Renew{lease.owner, lease.request, min_ttl}};
  auto renewing = server_->apply(
      {.name = lease.name, .command = std::move(renew), .deadline = runtime->now() + ask_timeout});
  const Result<store::Reply> reply = co_await std::move(renewing);
  if (!reply) co_return true;
  co_return std::holds_alternative<model::Granted>(std::get<model::LockOutcome>(reply->outcome));
}

}  // namespace holdfast::backends::redis
