// SPDX-License-Identifier: Apache-2.0
#include "faults_redis/load.hpp"

#include "support/timing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace holdfast::faults {

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// How much longer than it may wait a call takes to end: an answer that does not come is given up
// after half a second, and then the place is given back in 50 ms. The rest is for the machine.
constexpr Micros to_end_a_wait = 900ms;
// A release tries for two seconds.
constexpr Micros to_release = 2600ms;

Micros since(Clock::time_point begin) {
  return std::chrono::duration_cast<Micros>(Clock::now() - begin);
}

}  // namespace

Canceller::Canceller() : thread_([this](const std::stop_token& stop) { run(stop); }) {}
Canceller::~Canceller() = default;

std::stop_token Canceller::after(Micros delay) {
  std::stop_source stop;
  const std::lock_guard lock(mutex_);
  due_.emplace(Clock::now() + delay, stop);
  added_.notify_one();
  return stop.get_token();
}

void Canceller::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (added_.wait(lock, stop, [&] { return !due_.empty(); })) {
    const auto first = due_.begin();
    if (const auto when = first->first; when > Clock::now()) {
      // Something that is due even earlier may come meanwhile.
      added_.wait_until(lock, stop, when, [&] { return due_.begin()->first < when; });
      continue;
    }
    std::stop_source due = std::move(first->second);
    due_.erase(first);
    lock.unlock();
    due.request_stop();
    lock.lock();
  }
}

Load::Load(SharedLog& log, LoadPlan plan, std::uint64_t seed)
    : log_(log),
      plan_(std::move(plan)),
      stalls_(log, plan_.first_process, plan_.first_process + plan_.clients - 1) {
  Dice dice(seed);
  for (unsigned i = 0; i < plan_.clients; ++i) {
    auto client = open(plan_.urls[i % plan_.urls.size()]);
    if (!client) throw std::runtime_error(client.error().message);
    callers_.push_back(std::make_unique<Caller>(std::move(*client), log_, plan_.first_process + i));
  }
  for (const auto& caller : callers_) {
    for (unsigned i = 0; i < plan_.threads; ++i) {
      threads_.emplace_back([this, &caller = *caller, own = dice.seed()] { work(caller, own); });
    }
  }
}

Load::~Load() { end(); }

Load::Totals Load::end() {
  must_end_ = true;
  for (auto& thread : threads_) thread.join();
  threads_.clear();
  const std::lock_guard lock(mutex_);
  return totals_;
}

void Load::work(Caller& caller, std::uint64_t seed) {
  Dice dice(seed);
  Totals mine;
  while (!must_end_) {
    dice.rest(0us, dice.one_in(4) ? 20ms : 2ms);
    once(caller, dice, mine);
  }
  const std::lock_guard lock(mutex_);
  totals_.grants = grants_;
  totals_.refusals += mine.refusals;
  totals_.losses += mine.losses;
  totals_.increments += mine.increments;
  totals_.upgrades += mine.upgrades;
  std::ranges::move(mine.complaints, std::back_inserter(totals_.complaints));
}

Want Load::want(Dice& dice) const {
  const auto most = static_cast<std::int64_t>(plan_.locks.size()) - 1;
  Want want{.lock = plan_.locks[static_cast<std::size_t>(dice.between(0, most))]};
  if (want.lock.kind == Kind::semaphore)
    want.permits = static_cast<std::uint32_t>(dice.between(1, want.lock.capacity));
  if (want.lock.kind == Kind::read_write && !dice.one_in(3)) want.permits = 1;
  want.ttl = dice.time(plan_.least_ttl, plan_.most_ttl);
  want.renew = !dice.one_in(8);
  want.queues = plan_.queues;
  const auto patience = dice.between(0, 7);
  want.wait = patience == 0 ? 0us : patience == 1 ? dice.time(1ms, want.ttl) : plan_.patience;
  return want;
}

void Load::once(Caller& caller, Dice& dice, Totals& mine) {
  const Want wanted = want(dice);
  std::stop_token stop;
  if (!is_calm_ && dice.one_in(10)) stop = canceller_.after(dice.time(0us, wanted.ttl));
  const auto begin = Clock::now();
  const auto lost_before = stalls_.lost();
  auto held = caller.acquire(wanted, stop);
  if (const auto took = since(begin) - (stalls_.lost() - lost_before);
      took > wanted.wait + test::at_most(to_end_a_wait)) {
    mine.complaints.push_back(
        fmt::format("an acquire with {} ms to wait took {} ms", wanted.wait / 1ms, took / 1ms));
  }
  if (!held) {
    ++mine.refusals;
    // Nobody insists on a server that is away.
    if (held.error().error.code == Errc::unavailable) dice.rest(5ms, 10ms);
    return;
  }
  ++grants_;
  use(caller, *held, dice, mine);
  if (held->lease.lost().stop_requested()) ++mine.losses;
  if (dice.one_in(8)) return caller.drop(std::move(*held));
  const auto letting_go = Clock::now();
  const auto lost_until_then = stalls_.lost();
  const auto released = caller.release(*held);
  if (const auto took = since(letting_go) - (stalls_.lost() - lost_until_then);
      took > test::at_most(to_release)) {
    mine.complaints.push_back(fmt::format("a release took {} ms, and {}", took / 1ms,
                                          released ? "worked" : released.error().message));
  }
}

void Load::use(Caller& caller, Caller::Hold& hold, Dice& dice, Totals& mine) {
  const bool is_reader = caller.log().attempt(hold.op).capacity == all_permits && !hold.exclusive;
  const auto mood = dice.between(0, 19);
  Micros time = dice.time(0us, 3ms);
  if (mood == 0) time = dice.time(0us, 2 * hold.ttl);
  if (mood == 1 || mood == 2) time = dice.time(0us, hold.ttl / 2);
  const auto end = Clock::now() + time;
  while (true) {
    const Micros thinks = !is_calm_ && dice.one_in(16) ? dice.time(0us, hold.ttl) : 0us;
    if (caller.increment(hold, thinks)) ++mine.increments;
    const bool is_good = caller.look(hold);
    if (!is_good || Clock::now() >= end || is_calm_) return;
    if (is_reader && dice.one_in(3)) vary(caller, hold, dice, mine);
    caller.keep(hold, std::min<Micros>(std::chrono::ceil<Micros>(end - Clock::now()), 10ms));
  }
}

// A reader that wants to write, and one that has written enough.
void Load::vary(Caller& caller, Caller::Hold& hold, Dice& dice, Totals& mine) {
  if (hold.exclusive) {
    caller.downgrade(hold);
    return;
  }
  std::stop_token stop;
  if (dice.one_in(4)) stop = canceller_.after(dice.time(0us, hold.ttl));
  if (!caller.upgrade(hold, dice.one_in(4) ? 0us : dice.time(1ms, hold.ttl), stop)) return;
  ++mine.upgrades;
}

}  // namespace holdfast::faults
