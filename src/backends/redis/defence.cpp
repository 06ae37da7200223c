// SPDX-License-Identifier: Apache-2.0
#include "backends/redis/defence.hpp"

#include "backends/redis/strangers.hpp"
#include "runtime/spawn.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::backends::redis {

namespace {

using net::resp::text_of;

constexpr Micros ask_timeout = std::chrono::milliseconds(500);
constexpr Micros retry_after = std::chrono::milliseconds(500);
// A key of theirs may outlive its lease by a unit, and whoever lengthens it then is set back too.
constexpr Micros afterwards = std::chrono::seconds(2);
// After a reconnect all leases are due: one after the other, or the last ones would wait for their
// answers longer than anybody does.
constexpr unsigned max_looking = 32;

}  // namespace

void Defence::heard(const LockName& name, const model::LockCommand& command,
                    const store::Reply& reply) {
  const auto& outcome = std::get<model::LockOutcome>(reply.outcome);
  if (const auto* granted = std::get_if<model::Granted>(&outcome)) {
    const auto ends = server_->runtime()->now() + granted->remaining;
    if (const auto* acquire = std::get_if<model::Acquire>(&command.verb)) {
      stand_up_for({name, acquire->owner, acquire->request, ends});
    } else if (const auto* renew = std::get_if<model::Renew>(&command.verb)) {
      stand_up_for({name, renew->owner, renew->request, ends});
    }
    return;
  }
  // Of every other end Redis tells.
  const auto* released = std::get_if<model::Released>(&outcome);
  if (released == nullptr || !released->lease) return;
  if (const auto* release = std::get_if<model::Release>(&command.verb)) forget(name, *release);
}

void Defence::stand_up_for(Lease lease) {
  auto key = server_->dialect().shared_keys(lease.name).front();
  {
    const std::lock_guard lock(mutex_);
    sweep();
    const auto found = leases_.find(key);
    if (found != leases_.end() && found->second.owner == lease.owner &&
        found->second.request == lease.request) {
      found->second.ends = lease.ends;
      return;
    }
    if (!look_at(leases_.insert_or_assign(std::move(key), std::move(lease)).first)) return;
  }
  runtime::spawn(look(weak_from_this()));
}

// Somebody else may have it by now, and whoever gave up waiting has never had it.
void Defence::forget(const LockName& name, const model::Release& released) {
  const std::lock_guard lock(mutex_);
  const auto found = leases_.find(server_->dialect().shared_keys(name).front());
  if (found == leases_.end() || !found->second.is(released.owner, released.request)) return;
  leases_.erase(found);
}

void Defence::sweep() {
  if (leases_.size() < sweep_at_) return;
  const auto now = server_->runtime()->now();
  std::erase_if(leases_, [now](const auto& each) { return each.second.ends + afterwards <= now; });
  sweep_at_ = 2 * std::max<std::size_t>(leases_.size(), 32);
}

bool Defence::look_at(Leases::iterator lease) {
  if (std::exchange(lease->second.is_due, true)) {
    lease->second.must_look_again = true;
    return false;
  }
  due_.push_back(lease->first);
  if (looking_ >= max_looking) return false;
  ++looking_;
  return true;
}

void Defence::changed(const std::string& key) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = leases_.find(key);
    if (found == leases_.end() || !look_at(found)) return;
  }
  runtime::spawn(look(weak_from_this()));
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

Task<bool> Defence::look(std::weak_ptr<Defence> defence) {
  while (const auto self = defence.lock()) {
    const auto lease = self->next();
    if (!lease) break;
    const auto& [key, held] = *lease;
    auto setting_back = self->set_back(held.name, held.owner, held.request);
    const Found found = co_await std::move(setting_back);
    self->looked_at(*lease, found);
  }
  co_return true;
}

std::optional<Defence::Leases::value_type> Defence::next() {
  const std::lock_guard lock(mutex_);
  const auto now = server_->runtime()->now();
  while (!due_.empty()) {
    const auto found = leases_.find(due_.front());
    due_.pop_front();
    if (found == leases_.end()) continue;
    if (found->second.ends + afterwards <= now) {
      leases_.erase(found);
      continue;
    }
    found->second.must_look_again = false;
    return *found;
  }
  --looking_;
  return std::nullopt;
}

// Tracking comes first: what is changed after it is told, what was changed before is set back. If
// that writes, it is told too, and the next look finds everything in place.
Task<Defence::Found> Defence::set_back(LockName name, OwnerId owner, model::RequestId request) {
  const auto& runtime = server_->runtime();
  const auto keys = server_->dialect().shared_keys(name);
  auto tracking = server_->ask(track(keys), runtime->now() + ask_timeout, 2);
  const Result<net::resp::Reply> tracked = co_await std::move(tracking);
  if (!tracked) co_return Found::unknown;
  // No time is asked for, or a lease that is looked at in its last moment would never end.
  model::LockCommand renew{.spec = {}, .verb = model::Renew{owner, request, Micros::zero()}};
  auto renewing = server_->apply({.name = std::move(name),
                                  .command = std::move(renew),
                                  .deadline = runtime->now() + ask_timeout});
  const Result<store::Reply> reply = co_await std::move(renewing);
  if (!reply) co_return Found::unknown;
  const auto& outcome = std::get<model::LockOutcome>(reply->outcome);
  co_return std::holds_alternative<model::Granted>(outcome) ? Found::held : Found::gone;
}

void Defence::looked_at(const Leases::value_type& lease, Found found) {
  const auto& [key, held] = lease;
  {
    const std::lock_guard lock(mutex_);
    const auto now = leases_.find(key);
    // Another lease is there, and is due by itself.
    if (now == leases_.end() || !now->second.is(held.owner, held.request)) return;
    if (found == Found::gone) {
      leases_.erase(now);
      return;
    }
    now->second.is_due = now->second.must_look_again;
    if (now->second.is_due) due_.push_back(key);
    if (found == Found::held || std::exchange(now->second.is_retried, true)) return;
  }
  const auto& runtime = server_->runtime();
  runtime->schedule(runtime->now() + retry_after, [weak = weak_from_this(), key] {
    if (const auto self = weak.lock()) self->retry(key);
  });
}

void Defence::retry(const std::string& key) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = leases_.find(key);
    if (found != leases_.end()) found->second.is_retried = false;
  }
  changed(key);
}

}  // namespace holdfast::backends::redis
