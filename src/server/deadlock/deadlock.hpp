// SPDX-License-Identifier: Apache-2.0
//
// Finds those who wait for each other in a listing of locks.
//
// Whoever holds or waits is a node: its process where it says so (host, pid and start), since a
// process uses a fresh owner for every lock, else its party. Somebody unknown is taken to go on. A
// process is taken to release nothing while one of its waits is not served, which a process with
// several threads may disprove: hence the detector looks twice.
//
// A wait is served when the holders in its way have gone: all of them for an exclusive one, the
// exclusive ones for a shared one, as many as have the permits it lacks for a semaphore. What the
// node holds itself is never in its way. A shared wait stands behind the exclusive ones before it,
// and in a semaphore that is fifo every wait stands behind the one before it.
#pragma once

#include <holdfast/view.hpp>

#include "text/wall_time.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace holdfast::server {

using text::WallTime;

// One wait that is part of a deadlock.
struct DeadlockMember {
  std::string node;                // "web-1:4711", or "party 9f86d081884c7d65"
  std::vector<std::string> holds;  // what it has of the locks that take part
  std::string waits_for;
  Micros waiting_for{};
  std::uint64_t party = 0;  // of the waiter; 0: unknown
};

struct Deadlock {
  std::string id;  // the same for the same nodes that wait for the same locks
  std::vector<DeadlockMember> members;
  WallTime since{};        // when the last of them began to wait
  std::size_t victim = 0;  // the member that waits for the shortest time: it loses least
};

// Takes time in proportion to holders and waiters (and a sort), however they are connected.
std::vector<Deadlock> find_deadlocks(const std::vector<LockView>& locks, WallTime now);

}  // namespace holdfast::server
