// SPDX-License-Identifier: Apache-2.0
#include "simulation/worker.hpp"

#include "runtime/spawn.hpp"
#include "simulation/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace holdfast::simulation {

namespace {

using history::Detail;

constexpr unsigned deepest_reentry = 3;
// Owners are numbered in a history; those that come back are numbered above all attempts.
constexpr std::uint32_t first_named_owner = 1U << 30;

}  // namespace

Worker::Worker(World& world, Client& client, unsigned number)
    : world_(world),
      client_(client),
      sleeper_(*client.process),
      named_owner_(OwnerId::make(fmt::format("worker {}.{}", client.id, number)).value()),
      named_number_(first_named_owner + client.id * 16 + number) {}

void Worker::start() {
  client_.process->post([this] { runtime::spawn(run()); });
  client_.process->arrive(world_.now(), [] {});
}

Task<bool> Worker::run() {
  while (!is_over()) {
    co_await nap(world_.dice().mostly_short(20 * millisecond));
    if (is_over()) break;
    const std::size_t locks = world_.plan().shared_locks;
    const bool takes_all = world_.plan().has_errands && locks > 1 && world_.dice().one_in(12);
    auto turn = takes_all ? take_all() : once(world_.dice().below(locks), 1);
    co_await std::move(turn);
  }
  done_ = true;
  co_return true;
}

Task<bool> Worker::once(std::size_t lock, unsigned depth) {
  Held held;
  held.depth = depth;
  auto acquiring = acquire(lock, held, history::for_ever);
  const bool acquired = co_await std::move(acquiring);
  if (!acquired) co_return false;
  auto using_it = use(held, depth);
  co_await std::move(using_it);
  auto ending = give_back(held);
  co_await std::move(ending);
  co_return true;
}

std::stop_token Worker::maybe_cancelled() {
  const Plan& plan = world_.plan();
  if (is_over() || !world_.dice().one_in(plan.faults.cancel)) return {};
  world_.recorder().harmless_fault();
  std::stop_source stop;
  const Time after = world_.dice().mostly_short(plan.ttl);
  client_.process->arrive(world_.now() + after, [stop]() mutable { stop.request_stop(); });
  return stop.get_token();
}

Worker::Ask Worker::ask_for(std::size_t lock, Time longest_wait) {
  const Plan& plan = world_.plan();
  Dice& dice = world_.dice();
  const model::LockSpec& spec = plan.locks[lock].spec;
  const bool reentrant = spec.kind == Kind::reentrant;
  std::uint32_t permits = spec.capacity;
  if (spec.kind == Kind::semaphore)
    permits = static_cast<std::uint32_t>(dice.between(1, spec.capacity));
  if (spec.kind == Kind::read_write && dice.below(3) != 0) permits = 1;
  const std::size_t patience = dice.below(8);
  const Time some_time = patience == 0   ? 0
                         : patience == 1 ? dice.mostly_short(plan.ttl)
                                         : 16 * plan.ttl;
  const Time wait = std::min(some_time, longest_wait);
  const bool retry = dice.one_in(20);
  const bool queues = wait > 0 && !retry && plan.store_queues;
  // An owner whose name the user has chosen, and uses again.
  const bool is_named = reentrant || (plan.has_errands && dice.one_in(4));
  const auto op = static_cast<std::uint32_t>(world_.recorder().history.attempts.size() + 1);
  Ask ask{.attempt = {.name = static_cast<history::NameId>(lock + 1),
                      .process = client_.id,
                      .owner = is_named ? named_number_ : op,
                      .permits = permits,
                      .capacity = spec.capacity,
                      .reentrant = reentrant,
                      .fifo = queues && spec.order == Order::fifo,
                      .waits = queues,
                      .ttl = plan.ttl,
                      .give_up = wait > 0 ? world_.now() + wait : history::for_ever},
          .wanted = {.name = plan.locks[lock].name,
                     .spec = spec,
                     .owner = is_named ? named_owner_ : client_.core->fresh_owner(),
                     .request = model::RequestId{op},
                     .permits = permits,
                     .ttl = micros(plan.ttl),
                     .wait = micros(wait),
                     .retry = retry},
          .terms = {.ttl = micros(plan.ttl), .renew = !dice.one_in(8)},
          .stop = maybe_cancelled()};
  if (dice.one_in(16)) ask.terms.max_hold = micros(2 * plan.ttl);
  ask.attempt.renews = ask.terms.renew;
  ask.attempt.max_hold = ask.terms.max_hold.count() * microsecond;
  return ask;
}

Task<bool> Worker::acquire(std::size_t lock, Held& held, Time longest_wait) {
  Ask ask = ask_for(lock, longest_wait);
  held.lock = lock;
  held.op = world_.recorder().asked(ask.attempt, ask.wanted.owner);
  const model::LockSpec& spec = world_.plan().locks[lock].spec;
  held.exclusive = spec.kind == Kind::reentrant || ask.wanted.permits == all_permits;
  client::HeldLease::Identity identity{.name = ask.wanted.name,
                                       .spec = ask.wanted.spec,
                                       .owner = ask.wanted.owner,
                                       .request = ask.wanted.request,
                                       .permits = ask.wanted.permits};
  auto asking = client::acquire(client_.core, std::move(ask.wanted), std::move(ask.stop));
  const Result<client::Won> won = co_await std::move(asking);
  if (!won) {
    if (!is_silent()) {
      world_.recorder().add(What::failed, held.op).detail = detail_of(won.error().code);
    }
    co_return false;
  }
  identity.request = won->request;
  held.lease = client::HeldLease::start(client_.core, std::move(identity), ask.terms, *won);
  if (!is_silent()) {
    note_granted(held.op, held).claim = won->claim.has_value();
    watch(held);
  }
  co_return true;
}

Event& Worker::note_granted(OpId op, const Held& held) {
  ++world_.recorder().grants;
  Event& event = world_.recorder().add(What::granted, op);
  event.fence = held.lease->fence();
  event.until = world_.now() + std::chrono::nanoseconds(held.lease->remaining()).count();
  return event;
}

void Worker::watch(Held& held) {
  client_.line->watch({.op = held.op, .lease = held.lease.get()});
  held.lease->on_lost([this, op = held.op](const Error&) {
    const Line::Watched* lease = client_.line->watched(op);
    if (is_silent() || !lease) return;
    if (lease->upgraded != 0) world_.recorder().add(What::lost, lease->upgraded);
    world_.recorder().add(What::lost, op);
  });
}

Task<bool> Worker::use(Held& held, unsigned depth) {
  const Time ttl = world_.plan().ttl;
  Dice& dice = world_.dice();
  const std::size_t patience = dice.below(20);
  Time hold = dice.between(0, 2 * millisecond);
  if (!world_.is_calm() && patience == 0) hold = dice.between(0, 3 * ttl);
  if (!world_.is_calm() && (patience == 1 || patience == 2)) hold = dice.between(0, ttl / 2);
  const Time end = world_.now() + hold;
  while (held.is_valid() && !is_silent()) {
    auto writing = write(held);
    co_await std::move(writing);
    const Time left = end - world_.now();
    if (left <= 0 || is_over()) break;
    co_await nap(std::min(left, dice.between(millisecond, ttl)));
    auto varying = vary(held, depth);
    co_await std::move(varying);
  }
  co_return true;
}

// Reads, thinks, looks whether the lease is still good, and writes. The write may be on its way for
// so long that the lease ends before it arrives: that is what fences are for.
Task<bool> Worker::write(Held& held) {
  if (!held.exclusive && held.upgraded == 0) co_return false;
  const OpId op = held.upgraded != 0 ? held.upgraded : held.op;
  Resource& resource = world_.resource(held.lock);
  const Fence fence = held.lease->fence();
  const auto note = [&](What what, Time checked, bool accepted) {
    if (is_silent()) return;
    Event& event = world_.recorder().add(what, op);
    event.fence = fence;
    event.since = checked;
    event.number = resource.value;
    event.accepted = accepted;
  };
  const bool read = resource.admits(fence);
  const std::int64_t value = resource.value;
  note(What::read, world_.now(), read);
  if (!read) co_return false;
  if (lingers()) co_await nap(world_.dice().mostly_short(world_.plan().ttl));
  if (is_silent() || !held.is_valid()) co_return false;
  const Time checked = world_.now();
  if (lingers()) co_await nap(world_.dice().mostly_short(world_.plan().ttl));
  if (is_silent()) co_return false;
  const bool accepted = resource.admits(fence);
  if (accepted) resource.value = value + 1;
  note(What::wrote, checked, accepted);
  co_return accepted;
}

Task<bool> Worker::vary(Held& held, unsigned depth) {
  const Plan& plan = world_.plan();
  const Kind kind = plan.locks[held.lock].spec.kind;
  if (world_.dice().one_in(16)) {
    // Zero is refused, and changes nothing.
    const Micros ttl = world_.dice().one_in(3)
                           ? Micros::zero()
                           : micros(world_.dice().between(plan.ttl / 4, plan.ttl));
    if (ttl > Micros::zero()) world_.recorder().asked_for_less(held.op, ttl);
    auto extending = held.lease->extend(ttl);
    co_await std::move(extending);
  }
  if (kind == Kind::reentrant && depth < deepest_reentry) {
    auto deeper = once(held.lock, depth + 1);
    co_await std::move(deeper);
  }
  if (kind == Kind::read_write && !held.exclusive) {
    auto changing = held.upgraded == 0 ? upgrade(held) : downgrade(held);
    co_await std::move(changing);
  }
  co_return true;
}

Task<bool> Worker::upgrade(Held& held) {
  Line::Watched* watched = client_.line->watched(held.op);
  if (!watched || is_silent() || !held.is_valid()) co_return false;
  const Plan& plan = world_.plan();
  const Time wait = world_.dice().one_in(3) ? 0 : 16 * plan.ttl;
  Attempt attempt = world_.recorder().history.attempt(held.op);
  attempt.permits = all_permits;
  attempt.fifo = false;
  attempt.waits = wait > 0 && plan.store_queues;
  attempt.converts = held.op;
  attempt.renews = false;
  attempt.give_up = wait > 0 ? world_.now() + wait : history::for_ever;
  const OpId op = world_.recorder().asked(attempt, held.lease->identity().owner);
  watched->converting = op;
  auto converting = held.lease->convert(all_permits, micros(wait), maybe_cancelled());
  const Result<void> converted = co_await std::move(converting);
  if (is_silent()) co_return false;
  watched = client_.line->watched(held.op);
  if (!converted || !watched) {
    const Errc code = converted ? Errc::lost : converted.error().code;
    world_.recorder().add(What::failed, op).detail = detail_of(code);
    co_return false;
  }
  note_granted(op, held);
  watched->upgraded = held.upgraded = op;
  co_return true;
}

Task<bool> Worker::downgrade(Held& held) {
  if (is_silent()) co_return false;
  world_.recorder().add(What::releasing, held.upgraded);
  held.upgraded = 0;
  if (auto* watched = client_.line->watched(held.op)) watched->upgraded = 0;
  auto converting = held.lease->convert(1, Micros::zero(), {});
  const Result<void> converted = co_await std::move(converting);
  co_return converted.has_value();
}

void Worker::let_go(OpId op) {
  if (op != 0 && !is_silent()) world_.recorder().add(What::releasing, op);
}

Task<bool> Worker::give_back(Held& held) {
  auto preparing = prepare_to_leave(held);
  const bool leaves_it = co_await std::move(preparing);
  let_go(held.upgraded);
  let_go(held.op);
  client_.line->unwatch(held.op);
  if (leaves_it) {
    auto leaving = leave_behind(held);
    co_return co_await std::move(leaving);
  }
  if (world_.dice().one_in(8)) {
    held.lease->abandon();
    if (!is_silent()) world_.recorder().add(What::released, held.op).detail = Detail::other;
    co_return true;
  }
  auto releasing = held.lease->release();
  const Result<Released> released = co_await std::move(releasing);
  if (!is_silent()) world_.recorder().add(What::released, held.op).detail = detail_of(released);
  co_return true;
}

}  // namespace holdfast::simulation
