// SPDX-License-Identifier: Apache-2.0
#include "recipes/idempotency.hpp"
#include "simulation/once/world.hpp"

#include <fmt/format.h>

namespace holdfast::simulation::once {

namespace {

using recipes::GuardedRun;
using recipes::RunTerms;

LockName name_of(std::size_t key) { return LockName::make(fmt::format("key {}", key)).value(); }

class Turn {
 public:
  Turn(World& world, Client& client, std::size_t key) : world_(world), client_(client), key_(key) {}

  // True once the key is known to have happened.
  Task<bool> take(bool takes_over);

 private:
  Task<bool> nap(Time at_most);
  Task<Result<std::string>> work(const GuardedRun& run);
  Task<Result<Ledger::Page>> at_ledger(Fence fence, bool writes);
  bool may_die();
  void told(const model::RunOutcome& outcome);
  void check_answer(std::string_view what, const std::string& answer);

  World& world_;
  Client& client_;
  const std::size_t key_;
};

Task<bool> Turn::nap(Time at_most) {
  const auto until =
      client_.process->now() + std::chrono::nanoseconds(world_.dice().mostly_short(at_most));
  runtime::Event alarm(client_.process);
  co_return co_await alarm.wait_until(until);
}

bool Turn::may_die() {
  if (client_.is_gone || !world_.fate(world_.plan().crash)) return client_.is_gone;
  world_.crash(client_);
  return true;
}

// Whoever is told that it happened, and what it came to, must be told the truth.
void Turn::check_answer(std::string_view what, const std::string& answer) {
  if (client_.is_gone) return;
  const Ledger& ledger = world_.ledger();
  if (ledger.times(key_) != 1) {
    world_.say(fmt::format("key {} was {}, and happened {} times", key_, what, ledger.times(key_)));
  } else if (ledger.written(key_) != answer) {
    world_.say(fmt::format("key {} was {} with '{}', and is '{}'", key_, what, answer,
                           ledger.written(key_)));
  }
}

void Turn::told(const model::RunOutcome& outcome) {
  if (outcome.found == RunFound::completed) {
    ++world_.verdict().replays;
    check_answer("replayed", outcome.answer.body);
  } else if (outcome.found == RunFound::abandoned) {
    ++world_.verdict().unknown;
  }
}

Task<Result<Ledger::Page>> Turn::at_ledger(Fence fence, bool writes) {
  Ledger& ledger = world_.ledger();
  return world_.ask<Ledger::Page>(
      client_,
      [&ledger, key = key_, fence, writes] {
        return writes ? ledger.write(key, fence) : ledger.look(key, fence);
      },
      client_.process->now() + ledger_timeout, World::Copies::never);
}

// What is written under the key, by this run or by one before it.
Task<Result<std::string>> Turn::work(const GuardedRun& run) {
  const Fence fence = run.fence();
  const bool looks = run.took_over() && !world_.weakness().no_looks;
  for (const bool writes : {false, true}) {
    if (!writes && !looks) continue;
    auto asking = at_ledger(fence, writes);
    Result<Ledger::Page> page = co_await std::move(asking);
    if (!page) co_return std::unexpected(std::move(page.error()));
    if (page->refused) co_return fail(Errc::lost, "a newer fence was there");
    if (!page->written.empty()) co_return page->written;
    auto napping = nap(world_.plan().guard);
    co_await std::move(napping);
  }
  co_return fail(Errc::outcome_unknown, "nothing was written");
}

Task<bool> Turn::take(bool takes_over) {
  Dice& dice = world_.dice();
  RunTerms terms{.owner = client_.core->fresh_owner().str(),
                 .fingerprint = fmt::format("{}", key_),
                 .guard = std::chrono::ceil<std::chrono::milliseconds>(micros(world_.plan().guard)),
                 .ttl = std::chrono::hours(24),
                 .keep_failure = std::chrono::milliseconds(dice.one_in(2) ? 0 : 20),
                 .takes_over = takes_over};
  const Micros wait = dice.one_in(2) ? Micros::zero() : micros(2 * world_.plan().guard);
  auto beginning = recipes::begin_run(client_.core, name_of(key_), terms, wait, {});
  const Result<recipes::Beginning> begun = co_await std::move(beginning);
  if (!begun) co_return false;
  if (!begun->outcome.done) {
    told(begun->outcome);
    co_return begun->outcome.found == RunFound::completed;
  }
  if (may_die()) co_return false;
  const auto run = GuardedRun::start(client_.core, name_of(key_), terms, !dice.one_in(4), *begun);
  ++world_.verdict().runs;
  if (run->took_over()) ++world_.verdict().take_overs;
  auto napping = nap(2 * world_.plan().guard);
  co_await std::move(napping);
  if (!world_.is_calm() && dice.one_in(8)) {
    auto failing = run->end(run->terms().fail("it was not meant to be"));
    co_await std::move(failing);
    co_return false;
  }
  auto working = work(*run);
  const Result<std::string> written = co_await std::move(working);
  if (may_die() || (!world_.is_calm() && dice.one_in(16))) {
    run->leave();
    co_return false;
  }
  const bool may_have_happened = !written && written.error().code == Errc::outcome_unknown;
  auto ending = run->end(written             ? run->terms().complete({.body = *written})
                         : may_have_happened ? run->terms().abandon()
                                             : run->terms().fail(written.error().message));
  const Result<void> ended = co_await std::move(ending);
  if (!written || !ended) co_return false;
  check_answer("run", *written);
  co_return true;
}

}  // namespace

Task<bool> work_until_calm(World& world, Client& client) {
  while (!world.is_calm() && !client.is_gone) {
    runtime::Event alarm(client.process);
    co_await alarm.wait_until(client.process->now() +
                              std::chrono::nanoseconds(world.dice().mostly_short(second)));
    if (world.is_calm()) break;
    Turn turn(world, client, world.dice().below(world.plan().keys));
    auto taking = turn.take(world.plan().takes_over);
    co_await std::move(taking);
  }
  co_return true;
}

Task<bool> insist(World& world, Client& client, std::size_t key) {
  constexpr unsigned enough = 1000;
  for (unsigned tries = 0; tries < enough; ++tries) {
    Turn turn(world, client, key);
    auto taking = turn.take(true);
    const bool happened = co_await std::move(taking);
    if (happened) co_return true;
    runtime::Event alarm(client.process);
    co_await alarm.wait_until(client.process->now() + std::chrono::milliseconds(100));
  }
  world.say(fmt::format("key {} never ends", key));
  co_return false;
}

}  // namespace holdfast::simulation::once
