// SPDX-License-Identifier: Apache-2.0
#include "faults_redis/caller.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

namespace holdfast::faults {

namespace {

Time nanoseconds(Micros time) { return std::chrono::nanoseconds(time).count(); }

Detail detail_of_release(const Result<Released>& released) {
  if (!released) return faults::detail_of(released.error().code);
  switch (*released) {
    case Released::released: return Detail::released;
    case Released::already_expired: return Detail::already_expired;
    case Released::held_by_another: return Detail::held_by_another;
  }
  return Detail::other;
}

// A renewal was sent so long before the end that it brought; see valid_until in the client.
Time sent_for(Time until, Micros ttl) {
  return until - nanoseconds(ttl - (ttl / 100 + Micros(2000)));
}

// What was handed over is good for half a second until it is confirmed. Of a shorter ttl as little
// may be left after a slow answer.
bool is_claim(Micros ttl, Time left) {
  return ttl >= std::chrono::seconds(3) && left <= 500 * millisecond;
}

}  // namespace

Detail detail_of(Errc code) {
  switch (code) {
    case Errc::busy: return Detail::busy;
    case Errc::timed_out: return Detail::timed_out;
    case Errc::cancelled: return Detail::cancelled;
    case Errc::unavailable: return Detail::unavailable;
    case Errc::outcome_unknown: return Detail::outcome_unknown;
    case Errc::lost: return Detail::lost;
    case Errc::not_held: return Detail::not_held;
    default: return Detail::other;
  }
}

Result<Lease> Caller::ask(const Want& want, OpId op, std::stop_token stop) {
  const std::string& name = log_.names()[want.lock.name - 1];
  const std::string owner = want.says_who ? fmt::format("op-{}", op) : "";
  AcquireOptions options{.ttl = want.ttl,
                         .wait = want.wait,
                         .renew = want.renew,
                         .renew_every = want.renew_every,
                         .owner = owner};
  if (want.lock.kind == Kind::semaphore) {
    options.permits = want.permits;
    return client_.semaphore(name, want.lock.capacity).acquire(options, std::move(stop));
  }
  if (want.lock.kind == Kind::mutex) return client_.mutex(name).acquire(options, std::move(stop));
  auto lock = client_.read_write(name);
  return want.permits == 1 ? lock.acquire_shared(options, std::move(stop))
                           : lock.acquire(options, std::move(stop));
}

Caller::Answer Caller::acquire(const Want& want, std::stop_token stop) {
  const bool waits = want.wait > Micros::zero();
  const OpId op =
      log_.asked({.name = want.lock.name,
                  .process = process_,
                  .permits = want.permits,
                  .capacity = want.lock.capacity,
                  .fifo = waits && want.queues,
                  .waits = waits && want.queues,
                  .ttl = nanoseconds(want.ttl),
                  .give_up = waits ? log_.now() + nanoseconds(want.wait) : history::for_ever,
                  .renews = want.renew && want.renew_every <= want.ttl / 3});
  auto lease = ask(want, op, std::move(stop));
  if (!lease) {
    log_.add({.op = op, .what = What::failed, .detail = detail_of(lease.error().code)});
    return std::unexpected(Refusal{op, std::move(lease.error())});
  }
  const Time now = log_.now();
  const Time until = now + nanoseconds(lease->remaining());
  log_.add({.at = now,
            .until = until,
            .fence = lease->fence(),
            .op = op,
            .what = What::granted,
            .claim = waits && is_claim(want.ttl, until - now)});
  auto upgraded = std::make_shared<std::atomic<OpId>>(0);
  lease->on_lost([&log = log_, op, upgraded](const Error&) {
    if (const OpId second = *upgraded; second != 0) log.add({.op = second, .what = What::lost});
    log.add({.op = op, .what = What::lost});
  });
  return Hold{op,    std::move(*lease),           want.ttl,           now,
              until, want.permits == all_permits, std::move(upgraded)};
}

// A renewal is noted at the time it was sent: the lease was good then, and is since.
bool Caller::look(Hold& hold) {
  const Time now = log_.now();
  const Time until = now + nanoseconds(hold.lease.remaining());
  if (until <= now) return false;
  if (until > hold.until + millisecond) {
    const Time sent = std::clamp(sent_for(until, hold.ttl), hold.noted, now);
    log_.add({.at = sent, .until = until, .since = sent, .op = hold.op, .what = What::renewed});
    if (hold.user() != hold.op) {
      log_.add({.until = until, .since = sent, .op = hold.user(), .what = What::renewed});
    }
    hold.noted = sent;
    hold.until = until;
  }
  return true;
}

void Caller::keep(Hold& hold, Micros time, const std::stop_token& stop) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + time;
  for (auto now = Clock::now(); now < end && look(hold); now = Clock::now()) {
    if (stop.stop_requested()) return;
    std::this_thread::sleep_for(
        std::min<Clock::duration>(end - now, std::chrono::milliseconds(10)));
  }
}

// Reads, thinks, looks whether the lease is still good, and writes.
bool Caller::increment(Hold& hold, Micros thinks) {
  if (!hold.exclusive || !look(hold)) return false;
  const std::uint64_t fence = hold.lease.fence();
  const auto found = log_.read(hold.user(), fence);
  if (!found.accepted) return false;
  keep(hold, thinks);
  const Time looked = log_.now();
  if (!look(hold)) return false;
  return log_.write(hold.user(), fence, found.value + 1, looked).accepted;
}

// The lease is renewed while it waits to be upgraded.
bool Caller::upgrade(Hold& hold, Micros wait, std::stop_token stop) {
  if (hold.exclusive || !look(hold)) return false;
  Attempt attempt = log_.attempt(hold.op);
  attempt.permits = all_permits;
  attempt.fifo = false;
  attempt.waits = wait > Micros::zero();
  attempt.converts = hold.op;
  attempt.renews = false;
  attempt.give_up = attempt.waits ? log_.now() + nanoseconds(wait) : history::for_ever;
  const OpId op = log_.asked(attempt);
  std::jthread looking(
      [&](const std::stop_token& done) { keep(hold, std::chrono::hours(1), done); });
  const auto upgraded = hold.lease.upgrade(wait, std::move(stop));
  looking.request_stop();
  looking.join();
  const Time now = log_.now();
  const Time until = now + nanoseconds(hold.lease.remaining());
  if (!upgraded || until <= now) {
    const Errc code = upgraded ? Errc::lost : upgraded.error().code;
    log_.add({.op = op, .what = What::failed, .detail = detail_of(code)});
    return false;
  }
  log_.add(
      {.at = now, .until = until, .fence = hold.lease.fence(), .op = op, .what = What::granted});
  *hold.upgraded = op;
  // A loss in between was told to the first attempt only.
  if (hold.lease.lost().stop_requested()) log_.add({.op = op, .what = What::lost});
  return hold.exclusive = true;
}

bool Caller::downgrade(Hold& hold) {
  if (*hold.upgraded == 0) return false;
  look(hold);
  log_.add({.op = hold.user(), .what = What::releasing});
  *hold.upgraded = 0;
  hold.exclusive = false;
  return hold.lease.downgrade().has_value();
}

void Caller::let_go(Hold& hold) {
  look(hold);
  if (hold.user() != hold.op) log_.add({.op = hold.user(), .what = What::releasing});
  log_.add({.op = hold.op, .what = What::releasing});
}

Result<Released> Caller::release(Hold& hold) {
  let_go(hold);
  auto released = hold.lease.release();
  log_.add({.op = hold.op, .what = What::released, .detail = detail_of_release(released)});
  return released;
}

void Caller::drop(Hold hold) { let_go(hold); }

}  // namespace holdfast::faults
