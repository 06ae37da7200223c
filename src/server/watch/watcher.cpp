// SPDX-License-Identifier: Apache-2.0
#include "server/watch/watcher.hpp"

#include "client/core.hpp"
#include "runtime/spawn.hpp"
#include "server/events/observer.hpp"
#include "server/journal.hpp"
#include "server/locks/waiting_room.hpp"
#include "server/log.hpp"
#include "server/metrics/metrics.hpp"
#include "server/options.hpp"
#include "server/wall_clock.hpp"

#include <fmt/format.h>

#include <thread>

namespace holdfast::server {

using namespace std::chrono_literals;
using runtime::LocalTime;

namespace {

constexpr auto tick_interval = 500ms;
constexpr auto wanted_for = 60s;
// Even if nobody asks, so that the history has gauges when somebody comes.
constexpr auto background_interval = 15s;
constexpr auto page_deadline = 2s;
constexpr std::uint32_t page_size = 1000;
// Looking may cost this part of one processor: with very many locks it becomes rarer. Whoever
// listens to events wants to see what other processes do while it happens.
constexpr int max_share = 500;
constexpr int max_share_while_heard = 20;
// A victim that waits elsewhere is ended there, by its own server; if that does not come to pass,
// another one is chosen.
constexpr auto patience_with_others = 3s;

std::string describe(const Deadlock& deadlock) {
  std::string text;
  for (const auto& member : deadlock.members) {
    if (!text.empty()) text += "; ";
    text += fmt::format("{} waits for '{}'", member.node, member.waits_for);
  }
  return text;
}

}  // namespace

Watcher::Watcher(Parts parts) : parts_(std::move(parts)) {}

void Watcher::start() {
  const std::lock_guard lock(mutex_);
  arm();
}

void Watcher::arm() {
  if (is_stopped_) return;
  auto& runtime = parts_.core->runtime();
  timer_ = runtime.schedule(runtime.now() + tick_interval, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->tick();
  });
}

void Watcher::stop() {
  std::unique_lock lock(mutex_);
  is_stopped_ = true;
  parts_.core->runtime().cancel(timer_);
  while (is_looking_) {
    lock.unlock();
    std::this_thread::sleep_for(1ms);
    lock.lock();
  }
}

void Watcher::store_changed() {
  // The journal is there as long as nobody stopped us, and stopping waits for this lock.
  const std::lock_guard lock(mutex_);
  if (is_stopped_) return;
  parts_.observer.forget();
  parts_.journal.record({}, {.type = EventType::store_changed, .name = ""});
}

void Watcher::want() {
  wanted_until_ = (parts_.core->runtime().now() + wanted_for).time_since_epoch().count();
}

bool Watcher::wanted(LocalTime now) const {
  return now.time_since_epoch().count() < wanted_until_.load() || parts_.waiting.waiters() > 0 ||
         now - tried_at_ >= background_interval;
}

bool Watcher::has_looked() const {
  const auto age = parts_.core->runtime().now().time_since_epoch().count() - looked_at_.load();
  return looked_at_.load() != 0 && std::chrono::nanoseconds(age) < background_interval + 5s;
}

void Watcher::tick() {
  const LocalTime now = parts_.core->runtime().now();
  {
    const std::lock_guard lock(mutex_);
    if (is_stopped_) return;
    if (is_looking_ || now < next_look_ || !parts_.observer.due(now, wanted(now))) return arm();
    is_looking_ = true;
    tried_at_ = now;
  }
  runtime::spawn(look(), [self = shared_from_this()](bool) {
    const std::lock_guard lock(self->mutex_);
    self->is_looking_ = false;
    self->arm();
  });
}

Task<Result<Snapshot>> Watcher::list_all() {
  Snapshot snapshot;
  std::string cursor;
  do {
    store::ListRequest request{.cursor = std::move(cursor),
                               .limit = page_size,
                               .deadline = parts_.core->runtime().now() + page_deadline};
    auto listing = parts_.core->store().list(std::move(request));
    Result<LockPage> page = co_await std::move(listing);
    if (!page) co_return std::unexpected(std::move(page.error()));
    std::ranges::move(page->locks, std::back_inserter(snapshot.locks));
    cursor = std::move(page->next);
    if (!cursor.empty() && snapshot.locks.size() >= parts_.options.limits.max_observed) {
      snapshot.complete = false;
      break;
    }
  } while (!cursor.empty());
  co_return snapshot;
}

Task<bool> Watcher::look() {
  auto& runtime = parts_.core->runtime();
  const LocalTime began = runtime.now();
  auto listing = list_all();
  Result<Snapshot> snapshot = co_await std::move(listing);
  store_answers_ = snapshot.has_value();
  if (!snapshot) {
    parts_.observer.forget();
    co_return false;
  }
  const LocalTime came = runtime.now();
  judge(*snapshot);
  parts_.observer.look(std::move(*snapshot), began, wall_now());
  const LocalTime ended = runtime.now();
  looked_at_ = ended.time_since_epoch().count();
  // The listing cost about as much again; the time that it was under way is not our cost.
  const int share = parts_.events.has_subscribers() ? max_share_while_heard : max_share;
  next_look_ = ended + 2 * (ended - came) * share;
  co_return true;
}

void Watcher::judge(const Snapshot& snapshot) {
  const auto changes = detector_.look(snapshot.locks, wall_now());
  {
    const std::lock_guard lock(mutex_);
    deadlocks_ = detector_.current();
  }
  for (const auto& deadlock : changes.appeared) tell(deadlock);
  if (parts_.options.deadlock_victim == DeadlockVictim::none) return;
  for (const auto& deadlock : detector_.current()) break_circle(deadlock);
}

// One event for each lock, since a subscriber may not be allowed to know of all of them.
void Watcher::tell(const Deadlock& deadlock) {
  parts_.journal.metrics().deadlocks.add();
  for (const auto& member : deadlock.members) {
    parts_.journal.record({}, {.type = EventType::deadlock,
                               .name = member.waits_for,
                               .reason = "deadlock " + deadlock.id});
  }
  log(LogLevel::warning, "waits go round in a circle",
      {{"deadlock", deadlock.id}, {"waits", describe(deadlock)}});
}

void Watcher::break_circle(const Deadlock& deadlock) {
  const auto end = [&](const DeadlockMember& member) {
    if (!parts_.waiting.end_victim(member.waits_for, member.party)) return false;
    parts_.journal.metrics().deadlock_victims.add();
    return true;
  };
  if (end(deadlock.members[deadlock.victim])) return;
  if (wall_now() - deadlock.since < patience_with_others) return;
  auto by_wait = deadlock.members;
  std::ranges::sort(by_wait, {}, &DeadlockMember::waiting_for);
  for (const auto& member : by_wait) {
    if (end(member)) return;
  }
}

std::vector<Deadlock> Watcher::deadlocks() const {
  const std::lock_guard lock(mutex_);
  return deadlocks_;
}

}  // namespace holdfast::server
