// SPDX-License-Identifier: Apache-2.0
//
// What users do besides taking one lock and giving it back: several names at once, and leases that
// one part of a program leaves and another adopts.
#include "runtime/event.hpp"
#include "runtime/spawn.hpp"
#include "simulation/words.hpp"
#include "simulation/worker.hpp"

#include <utility>

namespace holdfast::simulation {

Task<bool> Worker::take_all() {
  const Time give_up = world_.now() + world_.plan().ttl / 2;
  std::vector<Held> all;
  for (std::size_t lock = 0; lock < world_.plan().shared_locks; ++lock) {
    Held held;
    auto acquiring = acquire(lock, held, std::max<Time>(0, give_up - world_.now()));
    if (!co_await std::move(acquiring)) break;
    all.push_back(std::move(held));
  }
  const bool has_all = all.size() == world_.plan().shared_locks;
  if (has_all) {
    auto using_it = use(all.back(), 1);
    co_await std::move(using_it);
  }
  while (!all.empty()) {
    auto ending = give_back(all.back());
    co_await std::move(ending);
    all.pop_back();
  }
  co_return has_all;
}

void Worker::start_hoarding() {
  client_.process->post([this] { runtime::spawn(hoard()); });
  client_.process->arrive(world_.now(), [] {});
}

Task<bool> Worker::hoard() {
  std::vector<Held> all;
  for (std::size_t lock = world_.plan().shared_locks;
       lock < world_.plan().locks.size() && !is_over(); ++lock) {
    Held held;
    auto acquiring = acquire(lock, held, 0);
    if (co_await std::move(acquiring)) all.push_back(std::move(held));
  }
  while (!is_over()) co_await nap(world_.plan().ttl);
  for (Held& held : all) {
    auto ending = give_back(held);
    co_await std::move(ending);
  }
  done_ = true;
  co_return true;
}

Task<bool> Worker::prepare_to_leave(Held& held) {
  // The end of an inner lease by its owner would be the end of the outer one.
  if (!world_.plan().has_errands || is_over() || held.depth > 1 || !world_.dice().one_in(8)) {
    co_return false;
  }
  if (const auto ttl = held.lease->unconfirmed_ttl()) {
    auto confirming = held.lease->extend(*ttl);
    const Result<void> confirmed = co_await std::move(confirming);
    if (!confirmed) co_return false;
  }
  co_return !is_silent() && held.is_valid();
}

Task<bool> Worker::leave_behind(Held& held) {
  held.lease->detach();
  // Whoever enters again meanwhile would share the fence, and with it the end.
  if (world_.plan().locks[held.lock].spec.kind == Kind::reentrant) {
    auto adopting = adopt_and_release(held);
    co_return co_await std::move(adopting);
  }
  client_.process->post(
      [this, held]() mutable { runtime::spawn(adopt_and_release(std::move(held))); });
  co_return true;
}

// As Client::adopt does it, for a caller that knows the fence: by a look, and a release of all that
// the owner has up to the fence that it saw.
Task<bool> Worker::adopt_and_release(Held held) {
  const OwnerId owner = held.lease->identity().owner;
  const LockName name = held.lease->identity().name;
  const Fence fence = held.lease->fence();
  runtime::Event alarm(client_.process);
  const Time pause = world_.dice().mostly_short(world_.plan().ttl);
  co_await alarm.wait_until(client_.process->now() + std::chrono::nanoseconds(pause));
  const auto note = [&](history::Detail detail) {
    if (!is_silent()) world_.recorder().add(What::released, held.op).detail = detail;
  };
  const auto before_send = client_.process->now();
  store::Request look{.name = name,
                      .command = model::LockCommand{{}, model::Inspect{owner}},
                      .deadline = before_send + client::command_timeout};
  auto looking = client_.core->store().apply(std::move(look));
  const Result<store::Reply> reply = co_await std::move(looking);
  if (!reply) {
    note(detail_of(reply.error().code));
    co_return false;
  }
  const auto& seen = std::get<model::Seen>(std::get<model::LockOutcome>(reply->outcome));
  if (!seen.mine || seen.mine->fence > fence) {
    note(history::Detail::not_held);
    co_return false;
  }
  world_.recorder().adopts(owner, seen.mine->fence, held.op);
  const client::Won won{
      .request = model::RequestId::any,
      .fence = seen.mine->fence,
      .valid_until = client::valid_until(before_send, seen.mine->remaining, client_.core->drift()),
      .claim = std::nullopt,
      .ear = nullptr};
  client::HeldLease::Identity identity{.name = name,
                                       .spec = {},
                                       .owner = owner,
                                       .request = model::RequestId::any,
                                       .metadata = nullptr};
  const client::Terms terms{.ttl = micros(world_.plan().ttl), .renew = false};
  const auto adopted = client::HeldLease::start(client_.core, std::move(identity), terms, won);
  auto releasing = adopted->release();
  const Result<Released> released = co_await std::move(releasing);
  note(detail_of(released));
  co_return released.has_value();
}

}  // namespace holdfast::simulation
