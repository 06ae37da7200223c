// SPDX-License-Identifier: Apache-2.0
//
// acquire, release, force-release, status and renew: on a lock by its whole key.
#include "forrst/locks.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace holdfast::forrst {

namespace {

namespace json = boost::json;
using std::chrono::system_clock;

template <typename Verb>
Task<Result<store::Reply>> ask(client::Core& core, LockName name, Verb verb) {
  return core.store().apply({.name = std::move(name),
                             .command = model::LockCommand{{}, std::move(verb)},
                             .deadline = core.runtime().now() + client::command_timeout});
}

Fault lock_fault(std::string_view code, std::string message, std::string_view key) {
  return {.code = std::string(code), .message = std::move(message), .details = {{"key", key}}};
}

Fault not_found(const FullKey& key) {
  return lock_fault(codes::lock_not_found, "Lock does not exist", key.text);
}

Fault forbidden(const FullKey& key) {
  return lock_fault(codes::forbidden, "Your token does not cover this lock", key.text);
}

// Rules have found every argument to be good; what is left is what rules cannot say.
Outcome first_of(std::vector<Fault> faults) { return std::unexpected(std::move(faults.front())); }

const model::LockOutcome& outcome_of(const Result<store::Reply>& reply) {
  return std::get<model::LockOutcome>(reply->outcome);
}

}  // namespace

Fault Locks::not_yours(const FullKey& key, const OwnerId& owner,
                       const model::LockOutcome& outcome) const {
  const auto& name = key.name.str();
  if (by_hand_.has(name, owner.view(), now()) || by_itself_.has(name, owner.view(), now())) {
    return lock_fault(codes::lock_already_released, "Lock was already released", key.text);
  }
  if (std::holds_alternative<model::NotOwner>(outcome)) {
    return lock_fault(codes::lock_ownership_mismatch, "Lock is owned by a different process",
                      key.text);
  }
  return not_found(key);
}

Task<SystemOutcome> Locks::acquire(const Turn& turn) {
  std::vector<Fault> faults;
  json::object options = turn.arguments();
  const auto* named = options.if_contains("function");
  const std::string function(named != nullptr ? std::string_view(named->as_string()) : "");
  // Without a function there is nothing that the key could be prefixed with.
  if (!options.contains("scope")) options["scope"] = function.empty() ? "global" : "function";
  if (function.empty() && options.at("scope") == "function") {
    co_return SystemOutcome{
        std::unexpected(Fault{.code = std::string(codes::invalid_arguments),
                              .message = "The scope function needs the name of a function",
                              .pointer = "/call/arguments/function"})};
  }
  const auto order = parse_lock(options, "/call/arguments", function, prefix_, faults);
  if (!order) co_return SystemOutcome{first_of(std::move(faults))};
  auto taking = take(turn, *order, turn.stop);
  std::expected<Granted, Fault> granted = co_await std::move(taking);
  if (!granted) co_return SystemOutcome{std::unexpected(std::move(granted.error()))};
  auto result = data_of(*order, *granted, granted->taken.remaining);
  result["full_key"] = order->full_key;
  // Nobody but the caller will know its owner.
  co_return SystemOutcome{
      .outcome = json::value(std::move(result)),
      .undelivered = [core = core_, held = granted->wanted] { client::give_back(core, held); }};
}

Task<Outcome> Locks::release(const Turn& turn) {
  std::vector<Fault> faults;
  const auto key = parse_full_key(turn.arguments(), prefix_, faults);
  const auto owner = parse_owner(turn.arguments(), faults);
  const auto fence = parse_fence(turn.arguments(), faults);
  if (!faults.empty()) co_return first_of(std::move(faults));
  if (!turn.may(Caller::Right::lock, key->name.str())) co_return std::unexpected(forbidden(*key));
  // What the owner is granted after this look is not meant.
  auto looking = ask(*core_, key->name, model::Inspect{.owner = *owner});
  const Result<store::Reply> seen = co_await std::move(looking);
  if (!seen) co_return std::unexpected(fault_of(*host_, seen.error(), "release"));
  const auto& look = std::get<model::Seen>(outcome_of(seen));
  if (!look.mine) {
    const bool is_free = look.lock.holders.empty();
    const model::LockOutcome whose =
        is_free ? model::LockOutcome(model::NotHeld{}) : model::LockOutcome(model::NotOwner{});
    co_return std::unexpected(not_yours(*key, *owner, whose));
  }
  auto releasing = ask(*core_, key->name,
                       model::Release{.owner = *owner, .up_to = fence.value_or(look.mine->fence)});
  const Result<store::Reply> reply = co_await std::move(releasing);
  if (!reply) co_return std::unexpected(fault_of(*host_, reply.error(), "release"));
  const auto* released = std::get_if<model::Released>(&outcome_of(reply));
  if (released == nullptr || !released->lease) {
    co_return std::unexpected(not_yours(*key, *owner, outcome_of(reply)));
  }
  by_hand_.remember(key->name.str(), owner->view(), now());
  const client::Wanted was{.name = key->name, .spec = model::LockSpec::mutex(), .owner = *owner};
  host_->ended(turn.caller, was, look.mine->fence, LockEnd::released);
  co_return json::value{{"released", true}, {"key", key->text}};
}

Task<Outcome> Locks::force_release(const Turn& turn) {
  std::vector<Fault> faults;
  const auto key = parse_full_key(turn.arguments(), prefix_, faults);
  if (!key) co_return first_of(std::move(faults));
  if (!turn.may(Caller::Right::admin, key->name.str())) {
    co_return std::unexpected(
        lock_fault(codes::forbidden, "Only an administrator may release by force", key->text));
  }
  auto forcing = ask(*core_, key->name, model::ForceRelease{});
  const Result<store::Reply> reply = co_await std::move(forcing);
  if (!reply) co_return std::unexpected(fault_of(*host_, reply.error(), "force-release"));
  const auto* forced = std::get_if<model::Forced>(&outcome_of(reply));
  if (forced == nullptr) co_return std::unexpected(not_found(*key));
  const client::Wanted was{
      .name = key->name, .spec = model::LockSpec::mutex(), .owner = core_->fresh_owner()};
  host_->ended(turn.caller, was, forced->fence, LockEnd::forced);
  co_return json::value{{"released", true}, {"key", key->text}, {"forced", true}};
}

bool Locks::shows_owner(const Turn& turn, const LockName& name) const {
  switch (show_owner_) {
    case ShowOwner::always: return true;
    case ShowOwner::automatic:
      if (!turn.caller.is_known) return true;
      [[fallthrough]];
    case ShowOwner::admin:
      return turn.caller.is_known && turn.may(Caller::Right::admin, name.str());
  }
  return false;
}

Task<Outcome> Locks::status(const Turn& turn) {
  std::vector<Fault> faults;
  const auto key = parse_full_key(turn.arguments(), prefix_, faults);
  if (!key) co_return first_of(std::move(faults));
  if (!turn.may(Caller::Right::read, key->name.str())) co_return std::unexpected(forbidden(*key));
  std::optional<OwnerId> sent;
  if (const auto* owner = turn.arguments().if_contains("owner")) {
    if (auto good = OwnerId::make(owner->as_string())) sent = *good;
  }
  const bool is_shown = shows_owner(turn, key->name);
  auto looking = ask(*core_, key->name, model::Inspect{.owner = sent, .with_owners = is_shown});
  const Result<store::Reply> reply = co_await std::move(looking);
  if (!reply) co_return std::unexpected(fault_of(*host_, reply.error(), "status"));
  const auto& seen = std::get<model::Seen>(outcome_of(reply));
  json::object out{{"key", key->text}, {"locked", !seen.lock.holders.empty()}};
  if (seen.lock.holders.empty()) co_return json::value(std::move(out));
  const HolderView& holder = seen.lock.holders.front();
  if (!seen.owners.empty()) {
    out["owner"] = seen.owners.front().view();
  } else if (seen.mine) {
    out["owner"] = sent->view();
  }
  const auto now = system_clock::now();
  out["acquired_at"] = time_text(now - holder.held_for);
  out["expires_at"] = time_text(now + holder.remaining);
  out["ttl_remaining"] = std::chrono::floor<std::chrono::seconds>(holder.remaining).count();
  if (holder.fence != 0) out["fence"] = holder.fence;
  co_return json::value(std::move(out));
}

Task<Outcome> Locks::renew(const Turn& turn) {
  std::vector<Fault> faults;
  const auto key = parse_full_key(turn.arguments(), prefix_, faults);
  const auto owner = parse_owner(turn.arguments(), faults);
  const auto ttl = parse_ttl(turn.arguments(), "/call/arguments", faults);
  if (!key || !owner || !ttl) co_return first_of(std::move(faults));
  if (!turn.may(Caller::Right::lock, key->name.str())) co_return std::unexpected(forbidden(*key));
  auto renewing = ask(*core_, key->name,
                      model::Renew{.owner = *owner, .request = model::RequestId::any, .ttl = *ttl});
  const Result<store::Reply> reply = co_await std::move(renewing);
  if (!reply) co_return std::unexpected(fault_of(*host_, reply.error(), "renew"));
  const auto* granted = std::get_if<model::Granted>(&outcome_of(reply));
  if (granted == nullptr) co_return std::unexpected(not_yours(*key, *owner, outcome_of(reply)));
  host_->renewed(turn.caller, key->name.str(), granted->fence);
  co_return json::value{{"renewed", true},
                        {"key", key->text},
                        {"expires_at", time_text(system_clock::now() + granted->remaining)},
                        {"fence", granted->fence}};
}

}  // namespace holdfast::forrst
