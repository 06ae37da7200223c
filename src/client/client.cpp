// SPDX-License-Identifier: Apache-2.0
#include <holdfast/client.hpp>

#include "client/explain.hpp"
#include "client/held_lease.hpp"
#include "client/lock_handle.hpp"
#include "client/options_check.hpp"
#include "model/party.hpp"
#include "runtime/log.hpp"
#include "runtime/spawn.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace holdfast {

using client::HeldLease;
using client::LockHandle;
using model::LockSpec;

namespace {

struct Answer {
  runtime::LocalTime before_send{};
  model::LockOutcome outcome;
};

// One command by name, for callers that hold nothing.
template <typename Verb>
Result<Answer> ask(client::Core& core, const LockName& name, Verb verb) {
  if (auto good = core.may_block(); !good) return std::unexpected(std::move(good.error()));
  const auto before_send = core.runtime().now();
  store::Request request{.name = name,
                         .command = model::LockCommand{{}, std::move(verb)},
                         .deadline = before_send + client::command_timeout};
  auto reply = runtime::run_blocking(core.store().apply(std::move(request)));
  if (!reply) return std::unexpected(std::move(reply.error()));
  return Answer{before_send, std::move(std::get<model::LockOutcome>(reply->outcome))};
}

// The newest lease of the owner, or the newest of those up to `fence`; 0 means all. A lock that
// others made in a shared key has no fence, and is not meant by one.
std::optional<model::Granted> newest_up_to(const model::Seen& seen, const OwnerId& owner,
                                           Fence fence) {
  const auto is_meant = [fence](Fence its) { return fence == 0 || (its != 0 && its <= fence); };
  if (!seen.mine || is_meant(seen.mine->fence)) return seen.mine;
  std::optional<model::Granted> newest;
  for (const HolderView& holder : seen.lock.holders) {
    if (holder.party != model::party_of(owner.view()) || !is_meant(holder.fence)) continue;
    if (!newest || holder.fence > newest->fence) newest = {holder.fence, holder.remaining};
  }
  return newest;
}

}  // namespace

Mutex Client::mutex(std::string_view name, Order order) const {
  return Mutex(std::make_shared<LockHandle>(core_, name, LockSpec::mutex(order), all_permits));
}

Reentrant Client::reentrant(std::string_view name, Order order) const {
  return Reentrant(std::make_shared<LockHandle>(core_, name, LockSpec::reentrant(order), 1));
}

ReadWrite Client::read_write(std::string_view name, Order order) const {
  const LockSpec spec = LockSpec::read_write(order);
  return ReadWrite(std::make_shared<LockHandle>(core_, name, spec, all_permits),
                   std::make_shared<LockHandle>(core_, name, spec, 1));
}

Semaphore Client::semaphore(std::string_view name, std::uint32_t permits, Order order) const {
  const LockSpec spec = LockSpec::semaphore(permits, order);
  return Semaphore(std::make_shared<LockHandle>(core_, name, spec, 1));
}

Election Client::election(std::string_view name) const {
  return Election(std::make_shared<LockHandle>(core_, name, LockSpec::election(), 1));
}

Result<std::vector<Lease>> Client::acquire_all(std::span<const std::string_view> names,
                                               AcquireOptions options, std::stop_token stop,
                                               std::source_location where) const {
  std::vector<std::string_view> sorted(names.begin(), names.end());
  std::sort(sorted.begin(), sorted.end());
  if (sorted.empty()) return fail(Errc::bad_input, "names: at least one is needed");
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    return fail(Errc::bad_input, "names: each may be given only once");
  }
  if (auto good = client::check(options); !good) return std::unexpected(std::move(good.error()));
  for (const auto name : sorted) {
    if (auto good = LockName::make(name); !good) return std::unexpected(std::move(good.error()));
  }
  const auto give_up_at = core_->runtime().now() + options.wait;
  std::vector<Lease> leases;
  for (const auto name : sorted) {
    const auto left = std::chrono::floor<Duration>(give_up_at - core_->runtime().now());
    options.wait = std::max(Duration::zero(), left);
    auto lease = mutex(name).acquire(options, stop, where);
    if (!lease) return std::unexpected(std::move(lease.error()));
    leases.push_back(std::move(*lease));
  }
  for (const auto& lease : leases) {
    if (lease.valid()) continue;
    return fail(Errc::lost, fmt::format("'{}' ended while the other names were waited for",
                                        lease.name().str()));
  }
  return leases;
}

Result<Lease> Client::adopt(std::string_view name, std::string_view owner, Fence fence) const {
  auto good_name = LockName::make(name);
  if (!good_name) return std::unexpected(std::move(good_name.error()));
  auto good_owner = OwnerId::make(owner);
  if (!good_owner) return std::unexpected(std::move(good_owner.error()));
  auto answer = ask(*core_, *good_name, model::Inspect{*good_owner});
  if (!answer) return std::unexpected(std::move(answer.error()));
  const auto& seen = std::get<model::Seen>(answer->outcome);
  const auto mine = newest_up_to(seen, *good_owner, fence);
  if (!mine) {
    // Where the owner has newer leases only, the one that is meant is over.
    const bool is_another = !seen.mine && !seen.lock.holders.empty();
    const model::LockOutcome why =
        is_another ? model::LockOutcome(model::NotOwner{}) : model::NotHeld{};
    return std::unexpected(client::explain_refusal(*good_name, why));
  }
  const client::Won won{
      .request = model::RequestId::any,
      .fence = mine->fence,
      .valid_until = client::valid_until(answer->before_send, mine->remaining, core_->drift()),
      .asked = answer->before_send,
      .claim = std::nullopt,
      .ear = nullptr};
  HeldLease::Identity identity{.name = std::move(*good_name),
                               .spec = {},
                               .owner = std::move(*good_owner),
                               .request = model::RequestId::any,
                               .metadata = nullptr,
                               .up_to = fence};
  const client::Terms terms{.ttl = default_ttl, .renew = false};
  return Lease(HeldLease::start(core_, std::move(identity), terms, won));
}

Result<std::uint32_t> Client::force_release(std::string_view name, std::string_view reason) const {
  auto good_name = LockName::make(name);
  if (!good_name) return std::unexpected(std::move(good_name.error()));
  if (reason.empty() || reason.size() > max_metadata_bytes) {
    return fail(Errc::bad_input, "reason: must be between 1 and 4096 bytes");
  }
  auto seen = inspect(name);
  if (!seen) return std::unexpected(std::move(seen.error()));
  if (seen->holders.empty()) {
    return std::unexpected(client::explain_refusal(*good_name, model::NotHeld{}));
  }
  model::ForceRelease force{.up_to = 0};
  for (const auto& holder : seen->holders) force.up_to = std::max(force.up_to, holder.fence);
  auto answer = ask(*core_, *good_name, force);
  if (!answer) return std::unexpected(std::move(answer.error()));
  const auto* forced = std::get_if<model::Forced>(&answer->outcome);
  if (!forced) return std::unexpected(client::explain_refusal(*good_name, answer->outcome));
  runtime::log_warning(
      fmt::format("'{}' was taken from {} holder(s) by force: {}", name, forced->count, reason));
  return forced->count;
}

Result<LockView> Client::inspect(std::string_view name) const {
  auto good_name = LockName::make(name);
  if (!good_name) return std::unexpected(std::move(good_name.error()));
  auto answer = ask(*core_, *good_name, model::Inspect{});
  if (!answer) return std::unexpected(std::move(answer.error()));
  LockView view = std::move(std::get<model::Seen>(answer->outcome).lock);
  view.name = name;
  return view;
}

Result<LockPage> Client::list(ListOptions options) const {
  if (auto good = core_->may_block(); !good) return std::unexpected(std::move(good.error()));
  if (options.limit < 1 || options.limit > max_page) {
    return fail(Errc::bad_input, "limit: must be between 1 and 1000");
  }
  store::ListRequest request{.prefix = std::string(options.prefix),
                             .cursor = std::string(options.cursor),
                             .limit = options.limit,
                             .deadline = core_->runtime().now() + client::command_timeout};
  return runtime::run_blocking(core_->store().list(std::move(request)));
}

Result<std::vector<LockEvent>> Client::history(std::string_view name, std::uint32_t limit) const {
  if (auto good = core_->may_block(); !good) return std::unexpected(std::move(good.error()));
  auto good_name = LockName::make(name);
  if (!good_name) return std::unexpected(std::move(good_name.error()));
  if (limit < 1 || limit > max_page) {
    return fail(Errc::bad_input, "limit: must be between 1 and 1000");
  }
  return runtime::run_blocking(core_->store().history(
      std::move(*good_name), limit, core_->runtime().now() + client::command_timeout));
}

Result<std::vector<std::string>> Client::diagnose() const {
  if (auto good = core_->may_block(); !good) return std::unexpected(std::move(good.error()));
  return runtime::run_blocking(
      core_->store().diagnose(core_->runtime().now() + client::release_timeout));
}

Result<Duration> Client::clock_offset() const {
  if (auto good = core_->may_block(); !good) return std::unexpected(std::move(good.error()));
  return runtime::run_blocking(
      core_->store().clock_offset(core_->runtime().now() + client::command_timeout));
}

}  // namespace holdfast
