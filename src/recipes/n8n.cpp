// SPDX-License-Identifier: Apache-2.0
#include "recipes/n8n.hpp"

#include "client/explain.hpp"
#include "runtime/spawn.hpp"
#include "text/json.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace holdfast::n8n {

namespace {

using store::Reply;

template <typename Verb>
store::Request question(Core& core, LockName name, Verb verb) {
  return {.name = std::move(name),
          .command = model::LockCommand{{}, std::move(verb)},
          .deadline = core.runtime().now() + client::command_timeout};
}

// When a holder got the lock. A store that has no clock of its own goes by this machine's.
text::WallTime held_since(const Core& core, model::StoreTime at, Micros held_for) {
  if (!core.store().capabilities().dialect.empty()) {
    return text::WallTime((at - held_for).time_since_epoch());
  }
  return std::chrono::floor<Micros>(std::chrono::system_clock::now()) - held_for;
}

std::string_view or_nobody(std::string_view text) { return text.empty() ? nobody : text; }

Error logic_error(const Core& core, const Reply& reply, std::optional<std::string_view> lock_id) {
  const auto& seen = std::get<model::Seen>(std::get<model::LockOutcome>(reply.outcome));
  std::string since(nobody);
  Metadata holder;
  if (!seen.lock.holders.empty()) {
    const auto& first = seen.lock.holders.front();
    since = text::format_time(held_since(core, reply.at, first.held_for));
    if (first.metadata) holder = *first.metadata;
  }
  return {Errc::not_owner,
          fmt::format("LOGIC ERROR: Lock held by {} (id: {}, execution: {}) since {}, not by "
                      "lock_id={}",
                      or_nobody(holder.note), or_nobody(holder.value), or_nobody(holder.source),
                      since, lock_id.value_or("null"))};
}

}  // namespace

Error explain(const LockRequest& completed, const client::NotTaken& why) {
  const bool is_held = why.error.code == Errc::busy;
  if (is_held && !completed.wait_till_lock_released) {
    // The holder, and the one who tried.
    return {Errc::busy,
            fmt::format("Lock acquisition failed (fail-fast): scope '{}' is held (count=2). "
                        "Caller passed wait_till_lock_released=false.",
                        completed.scope)};
  }
  // A wait of no time ends as busy.
  if (is_held || why.error.code == Errc::timed_out) {
    return {Errc::timed_out,
            fmt::format("Lock acquisition timed out after {}s waiting for scope '{}'.",
                        completed.max_wait_seconds, completed.scope)};
  }
  return why.error;
}

// The lock is held by now: what cannot be asked must not make the answer a failure.
Task<Result<Lock>> describe(std::shared_ptr<Core> core, LockRequest completed, LockName name) {
  const auto owner = OwnerId::make(completed.lock_id);
  auto asking = core->store().apply(question(*core, std::move(name), model::Inspect{*owner}));
  const Result<Reply> reply = co_await std::move(asking);
  auto since = std::chrono::floor<Micros>(std::chrono::system_clock::now());
  Fence fence = 0;
  if (reply) {
    const auto& seen = std::get<model::Seen>(std::get<model::LockOutcome>(reply->outcome));
    if (seen.mine) fence = seen.mine->fence;
    for (const auto& holder : seen.lock.holders) {
      if (!seen.mine || holder.fence != seen.mine->fence) continue;
      since = held_since(*core, reply->at, holder.held_for);
    }
  }
  const auto key = lock_key(completed.scope);
  co_return Lock{.count = 1,
                 .scope = std::move(completed.scope),
                 .lock_id = std::move(completed.lock_id),
                 .key = key,
                 .meta_key = key + ":meta",
                 .workflow_id = std::move(completed.workflow_id),
                 .workflow_name = std::move(completed.workflow_name),
                 .execution_id = std::move(completed.execution_id),
                 .locked_at = text::format_time(since),
                 .fence = fence};
}

namespace {

// What came of it: Released, NotHeld or NotOwner. Errors: outcome_unknown if a lease of this owner
// may have been ended, and another holds the lock by now.
Task<Result<model::LockOutcome>> release_by(std::shared_ptr<Core> core, LockName name,
                                            model::Release verb) {
  auto releasing = core->store().apply(question(*core, name, verb));
  Result<Reply> reply = co_await std::move(releasing);
  std::optional<Error> lost;
  if (!reply && reply.error().code == Errc::outcome_unknown) {
    // Repeating it is harmless, and mostly tells.
    lost = std::move(reply.error());
    auto again = core->store().apply(question(*core, name, verb));
    reply = co_await std::move(again);
  }
  if (!reply) co_return std::unexpected(std::move(reply.error()));
  const auto& outcome = std::get<model::LockOutcome>(reply->outcome);
  if (lost && std::holds_alternative<model::NotOwner>(outcome)) {
    co_return std::unexpected(std::move(*lost));
  }
  co_return outcome;
}

}  // namespace

Task<Result<Release>> release(std::shared_ptr<Core> core, std::string scope,
                              std::optional<std::string> lock_id, std::optional<Fence> fence) {
  auto name = lock_name(*core, scope);
  if (!name) co_return std::unexpected(std::move(name.error()));
  if (lock_id) {
    auto owner = OwnerId::make(*lock_id);
    if (!owner) co_return fail(Errc::bad_input, "lock_id: " + owner.error().message);
    model::Release verb{.owner = std::move(*owner), .up_to = fence.value_or(UINT64_MAX)};
    auto releasing = release_by(core, *name, std::move(verb));
    const Result<model::LockOutcome> outcome = co_await std::move(releasing);
    if (!outcome) co_return std::unexpected(outcome.error());
    const bool is_over = fence && std::holds_alternative<model::NotHeld>(*outcome);
    if (is_over || std::holds_alternative<model::Released>(*outcome)) {
      co_return Release{is_over, std::move(scope), std::move(lock_id)};
    }
  }
  auto looking = core->store().apply(question(*core, *name, model::Inspect{}));
  const Result<Reply> seen = co_await std::move(looking);
  if (!seen) co_return std::unexpected(seen.error());
  const auto& lock = std::get<model::Seen>(std::get<model::LockOutcome>(seen->outcome)).lock;
  if (lock.holders.empty()) co_return Release{true, std::move(scope), std::move(lock_id)};
  co_return std::unexpected(logic_error(*core, *seen, lock_id));
}

Task<Result<RateOutcome>> check_rate(std::shared_ptr<Core> core, RateRequest request) {
  const auto command = rate_command(request);
  if (!command) co_return std::unexpected(command.error());
  auto asking = core->store().apply({.name = *model::limit_name(request.scope, command->rule),
                                     .command = *command,
                                     .deadline = core->runtime().now() + client::command_timeout});
  Result<Reply> reply = co_await std::move(asking);
  if (!reply) co_return std::unexpected(std::move(reply.error()));
  co_return std::get<RateOutcome>(reply->outcome);
}

namespace {

Task<Result<Lock>> take(std::shared_ptr<Core> core, LockRequest request, std::stop_token stop) {
  auto complete = completed(*core, std::move(request));
  if (!complete) co_return std::unexpected(std::move(complete.error()));
  const auto what = wanted(*core, *complete);
  if (!what) co_return std::unexpected(what.error());
  auto taking = what->wait == Micros::zero() ? client::take_at_once(core, *what, stop)
                                             : client::take_waiting(core, *what, stop);
  const client::TakeResult taken = co_await std::move(taking);
  if (!taken) co_return std::unexpected(explain(*complete, taken.error()));
  auto describing = describe(core, *complete, what->name);
  co_return co_await std::move(describing);
}

template <typename T>
Result<T> wait_for(const Core& core, Task<Result<T>> task) {
  if (auto good = core.may_block(); !good) return std::unexpected(std::move(good.error()));
  return runtime::run_blocking(std::move(task));
}

}  // namespace

Result<Lock> acquire(const Client& client, const LockRequest& request, std::stop_token stop) {
  return wait_for(*client.core(), take(client.core(), request, std::move(stop)));
}

Result<Release> release(const Client& client, std::string_view scope,
                        std::optional<std::string_view> lock_id, std::optional<Fence> fence) {
  std::optional<std::string> id;
  if (lock_id) id.emplace(*lock_id);
  return wait_for(*client.core(), release(client.core(), std::string(scope), std::move(id), fence));
}

Result<RateOutcome> check_rate(const Client& client, const RateRequest& request) {
  return wait_for(*client.core(), check_rate(client.core(), request));
}

Result<CleanUp> clean_up(const Client& client, const CleanUpRequest& request) {
  return wait_for(*client.core(),
                  clean_up(client.core(), request, [](std::string_view) { return true; }));
}

}  // namespace holdfast::n8n
