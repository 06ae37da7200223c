// SPDX-License-Identifier: Apache-2.0
#include "faults_redis/shared_log.hpp"

#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <new>
#include <stdexcept>
#include <system_error>

namespace holdfast::faults {

namespace {

Time steady_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

template <typename T>
struct Slot {
  std::atomic<bool> is_written;
  T what;
};

struct Resource {
  pthread_mutex_t mutex;
  std::uint64_t fence;
  std::int64_t value;
};

class Locked {
 public:
  explicit Locked(Resource& resource) : mutex_(resource.mutex) {
    if (pthread_mutex_lock(&mutex_) == EOWNERDEAD) pthread_mutex_consistent(&mutex_);
  }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
  ~Locked() { pthread_mutex_unlock(&mutex_); }

 private:
  pthread_mutex_t& mutex_;
};

// Those of the same time keep their order.
void sort_by_time(std::vector<Event>& events) {
  std::vector<std::pair<Time, std::size_t>> order;
  order.reserve(events.size());
  for (std::size_t i = 0; i < events.size(); ++i) order.emplace_back(events[i].at, i);
  std::ranges::sort(order);
  std::vector<Event> sorted;
  sorted.reserve(events.size());
  for (const auto& [at, index] : order) sorted.push_back(events[index]);
  events = std::move(sorted);
}

}  // namespace

struct SharedLog::Shared {
  std::atomic<std::size_t> events_used;
  std::atomic<std::size_t> attempts_used;
  Resource resources[most_resources];
  Slot<Attempt> attempts[most_attempts];
  Slot<Event> events[most_events];
};

SharedLog::SharedLog(std::vector<std::string> names)
    : names_(std::move(names)), began_(steady_ns() - 1) {
  // Pages that nobody writes to cost nothing, and all of them begin as zeros.
  void* const memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
  shared_ = static_cast<Shared*>(memory);
  pthread_mutexattr_t kind;
  pthread_mutexattr_init(&kind);
  pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
  for (Resource& resource : shared_->resources) pthread_mutex_init(&resource.mutex, &kind);
  pthread_mutexattr_destroy(&kind);
}

SharedLog::~SharedLog() { munmap(shared_, sizeof(Shared)); }

Time SharedLog::now() const { return steady_ns() - began_; }

OpId SharedLog::asked(const Attempt& attempt) {
  const std::size_t index = shared_->attempts_used.fetch_add(1);
  if (index >= most_attempts) throw std::length_error("too many attempts for one history");
  const auto op = static_cast<OpId>(index + 1);
  Slot<Attempt>& slot = shared_->attempts[index];
  slot.what = attempt;
  if (slot.what.owner == 0) slot.what.owner = op;
  slot.is_written.store(true, std::memory_order_release);
  add({.op = op, .process = attempt.process, .what = What::asked});
  return op;
}

Attempt SharedLog::attempt(OpId op) const { return shared_->attempts[op - 1].what; }

void SharedLog::add(Event event) {
  if (event.at == 0) event.at = now();
  const std::size_t index = shared_->events_used.fetch_add(1);
  if (index >= most_events) return;
  if (event.op != 0) event.process = shared_->attempts[event.op - 1].what.process;
  Slot<Event>& slot = shared_->events[index];
  slot.what = event;
  slot.is_written.store(true, std::memory_order_release);
}

void SharedLog::fault(What what, ProcessId process, Time at, Time until) {
  add({.at = at, .until = until, .process = process, .what = what});
}

SharedLog::Access SharedLog::read(OpId op, std::uint64_t fence) {
  return use(What::read, op, fence, {0, 0});
}

SharedLog::Access SharedLog::write(OpId op, std::uint64_t fence, std::int64_t value, Time looked) {
  return use(What::wrote, op, fence, {value, looked});
}

SharedLog::Access SharedLog::use(What what, OpId op, std::uint64_t fence,
                                 std::pair<std::int64_t, Time> written) {
  Resource& resource = shared_->resources[shared_->attempts[op - 1].what.name - 1];
  const Locked locked(resource);
  const bool accepted = fence >= resource.fence;
  if (accepted) resource.fence = fence;
  if (accepted && what == What::wrote) resource.value = written.first;
  add({.since = written.second,
       .fence = fence,
       .number = resource.value,
       .op = op,
       .what = what,
       .accepted = accepted});
  return {accepted, resource.value};
}

std::int64_t SharedLog::value_of(history::NameId name) const {
  Resource& resource = shared_->resources[name - 1];
  const Locked locked(resource);
  return resource.value;
}

history::History SharedLog::history() const {
  history::History all;
  all.names = names_;
  const std::size_t attempts = std::min(shared_->attempts_used.load(), most_attempts);
  for (std::size_t i = 0; i < attempts; ++i) {
    const Slot<Attempt>& slot = shared_->attempts[i];
    // Whoever was killed before it could say what it wants has no events either.
    const bool is_written = slot.is_written.load(std::memory_order_acquire);
    all.attempts.push_back(is_written ? slot.what : Attempt{.name = 1});
  }
  const std::size_t events = shared_->events_used.load();
  if (events > most_events) throw std::length_error("too many events for one history");
  for (std::size_t i = 0; i < events; ++i) {
    const Slot<Event>& slot = shared_->events[i];
    if (slot.is_written.load(std::memory_order_acquire)) all.events.push_back(slot.what);
  }
  sort_by_time(all.events);
  return all;
}

}  // namespace holdfast::faults
