// SPDX-License-Identifier: Apache-2.0
//
// Looks at all locks of the store from time to time: for the events of other processes, for the
// gauges, and for circles of waits.
#pragma once

#include <holdfast/error.hpp>
#include <holdfast/task.hpp>

#include "runtime/runtime.hpp"
#include "server/deadlock/detector.hpp"
#include "server/events/diff.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

namespace holdfast::client {
class Core;
}

namespace holdfast::server {

class EventHub;
class Journal;
class Observer;
class WaitingRoom;
struct ServerOptions;

using runtime::LocalTime;

class Watcher : public std::enable_shared_from_this<Watcher> {
 public:
  struct Parts {
    std::shared_ptr<client::Core> core;
    EventHub& events;
    Observer& observer;
    Journal& journal;
    WaitingRoom& waiting;
    const ServerOptions& options;
  };
  explicit Watcher(Parts parts);

  void start();
  // No look is under way when it returns.
  void stop();

  // What is behind the store's address may no longer know what it granted. From any thread.
  void store_changed();

  // Somebody asked for what only looking can tell: it goes on for a minute.
  void want();
  std::vector<Deadlock> deadlocks() const;
  // Whether the store answered the last look.
  bool store_answers() const { return store_answers_.load(); }
  // Whether what was observed is fresh enough to be shown.
  bool has_looked() const;

 private:
  void arm();
  void tick();
  bool wanted(LocalTime now) const;
  Task<bool> look();
  Task<Result<Snapshot>> list_all();
  void judge(const Snapshot& snapshot);
  void tell(const Deadlock& deadlock);
  void break_circle(const Deadlock& deadlock);

  const Parts parts_;
  DeadlockDetector detector_;  // by whoever looks
  LocalTime next_look_{};      // by whoever looks
  LocalTime tried_at_{};       // by the timer

  std::atomic<bool> store_answers_{true};
  std::atomic<LocalTime::rep> wanted_until_{0};
  std::atomic<LocalTime::rep> looked_at_{0};

  mutable std::mutex mutex_;
  // All below is guarded by mutex_.
  std::vector<Deadlock> deadlocks_;
  bool is_stopped_ = false;
  bool is_looking_ = false;
  runtime::TimerId timer_{};
};

}  // namespace holdfast::server
