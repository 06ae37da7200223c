// SPDX-License-Identifier: Apache-2.0
#include "backends/quorum/quorum_store.hpp"

#include <holdfast/options.hpp>

#include "backends/quorum/quorum.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace holdfast::backends::quorum {

namespace {

using store::Request;

class QuorumListening final : public store::Listening {
 public:
  QuorumListening(QuorumPtr quorum, LockName name, OwnerId owner)
      : quorum_(std::move(quorum)),
        name_(std::move(name)),
        owner_(std::move(owner)),
        ear_(quorum_->add_ear()) {}

  ~QuorumListening() override {
    quorum_->remove_ear(ear_->process());
    quorum_->leave_line(*ear_, name_, owner_);
  }

  model::ProcessId process() const override { return ear_->process(); }
  Task<store::Notice> next(LocalTime deadline) override { return Ear::next(ear_, deadline); }
  void poke() override { ear_->poke(); }

 private:
  const QuorumPtr quorum_;
  const LockName name_;
  const OwnerId owner_;
  const std::shared_ptr<Ear> ear_;
};

class QuorumStore final : public store::Store {
 public:
  explicit QuorumStore(QuorumPtr quorum) : quorum_(std::move(quorum)) {}

  Task<Result<Reply>> apply(Request request) override;
  Result<std::unique_ptr<store::Listening>> listen(const LockName& name, const OwnerId& owner,
                                                   model::RequestId) override {
    return std::make_unique<QuorumListening>(quorum_, name, owner);
  }
  Task<Result<LockPage>> list(store::ListRequest request) override {
    return quorum::list(quorum_, std::move(request));
  }
  Task<Result<std::vector<LockEvent>>> history(LockName name, std::uint32_t limit,
                                               LocalTime deadline) override;
  Result<void> supports(const model::LockSpec& spec) const override;
  store::Capabilities capabilities() const override;
  void on_change(std::function<void()> changed) override;
  Task<Result<std::vector<std::string>>> diagnose(LocalTime deadline) override {
    return quorum::diagnose(quorum_, deadline);
  }
  Task<Result<Micros>> clock_offset(LocalTime deadline) override;
  OwnerId fresh_owner(runtime::Runtime& runtime) const override {
    return quorum_->members().front()->store->fresh_owner(runtime);
  }
  std::string describe() const override;

 private:
  const QuorumPtr quorum_;
};

Task<Result<Reply>> QuorumStore::apply(Request request) {
  if (auto allowed = model::admissible(request.command); !allowed) {
    return Task<Result<Reply>>(std::unexpected(std::move(allowed.error())));
  }
  if (request.stop.stop_requested()) {
    return Task<Result<Reply>>(fail(Errc::cancelled, "cancelled before it began"));
  }
  if (std::holds_alternative<model::RateCommand>(request.command)) {
    return Task<Result<Reply>>(
        fail(Errc::unsupported,
             "a majority vote cannot count hits: two majorities share as little as one member, so "
             "that most of what one of them counts the other does not know of"));
  }
  if (std::holds_alternative<model::RunCommand>(request.command)) {
    return Task<Result<Reply>>(fail(
        Errc::unsupported,
        "a majority vote cannot keep what came of a run: members that lost it would let it run "
        "again; keep runs on one store, and take the lock here"));
  }
  const auto* lock = std::get_if<model::LockCommand>(&request.command);
  if (lock == nullptr) return check_fence(quorum_, std::move(request));
  using Ask = Task<Result<Reply>> (*)(QuorumPtr, Request);
  constexpr Ask by_verb[] = {acquire, renew, release, inspect, force_release};
  const bool changes_something = !std::holds_alternative<model::Inspect>(lock->verb);
  const bool acquires = std::holds_alternative<model::Acquire>(lock->verb);
  if (auto good = acquires ? supports(lock->spec) : Result<void>{}; !good && changes_something) {
    return Task<Result<Reply>>(std::unexpected(std::move(good.error())));
  }
  const auto* wanted = std::get_if<model::Acquire>(&lock->verb);
  const auto* renewed = std::get_if<model::Renew>(&lock->verb);
  const Micros ttl = wanted ? wanted->ttl : renewed ? renewed->ttl : Micros::zero();
  if (auto kept = quorum_->can_keep(ttl); !kept) {
    return Task<Result<Reply>>(std::unexpected(std::move(kept.error())));
  }
  const bool converts = wanted != nullptr && wanted->converts != model::RequestId::any;
  if (converts) return convert(quorum_, std::move(request));
  return by_verb[lock->verb.index()](quorum_, std::move(request));
}

Result<void> QuorumStore::supports(const model::LockSpec& spec) const {
  if (spec.kind == Kind::semaphore && spec.capacity > 1) {
    return fail(Errc::unsupported,
                "a majority vote cannot count the permits of a semaphore: with two permits on five "
                "members, three holders can each have a majority");
  }
  if (spec.order == Order::fifo) {
    return fail(Errc::unsupported,
                "members that know nothing of each other keep no common queue: fifo cannot be "
                "kept here, barging can");
  }
  auto for_members = spec;
  for_members.order = Order::barging;
  for (const auto& member : quorum_->members()) {
    if (auto good = member->store->supports(for_members); !good) return good;
  }
  return {};
}

store::Capabilities QuorumStore::capabilities() const {
  const Options& options = quorum_->options();
  return {.queues = true,
          .may_change = std::ranges::any_of(
              quorum_->members(),
              [](const auto& member) { return member->store->capabilities().may_change; }),
          .spends_requests = true,
          .retry = {options.retries, options.retry_delay, options.retry_jitter}};
}

void QuorumStore::on_change(std::function<void()> changed) {
  for (const auto& member : quorum_->members()) {
    member->store->on_change(changed);
  }
}

// Those that are silent must leave time for the others.
LocalTime time_for_one(const Quorum& quorum, std::size_t member, LocalTime deadline) {
  return quorum.deadline_for(max_ttl, quorum.share_of(deadline, quorum.size() - member));
}

// From the first member that keeps one.
Task<Result<std::vector<LockEvent>>> QuorumStore::history(LockName name, std::uint32_t limit,
                                                          LocalTime deadline) {
  const QuorumPtr quorum = quorum_;
  Result<std::vector<LockEvent>> events = fail(Errc::unavailable, "no member answered");
  for (std::size_t at = 0; at < quorum->size(); ++at) {
    auto reading =
        quorum->members()[at]->store->history(name, limit, time_for_one(*quorum, at, deadline));
    events = co_await std::move(reading);
    if (events || events.error().code == Errc::unsupported) break;
  }
  co_return events;
}

// Of the member that is furthest off.
Task<Result<Micros>> QuorumStore::clock_offset(LocalTime deadline) {
  const QuorumPtr quorum = quorum_;
  Result<Micros> worst = fail(Errc::unavailable, "no member answered");
  for (std::size_t at = 0; at < quorum->size(); ++at) {
    auto measuring =
        quorum->members()[at]->store->clock_offset(time_for_one(*quorum, at, deadline));
    const Result<Micros> offset = co_await std::move(measuring);
    if (offset && (!worst || std::chrono::abs(*offset) > std::chrono::abs(*worst))) worst = offset;
  }
  co_return worst;
}

std::string QuorumStore::describe() const {
  std::string addresses;
  for (const auto& member : quorum_->members()) {
    if (!addresses.empty()) addresses += ',';
    addresses += member->address;
  }
  return "redlock://" + addresses;
}

}  // namespace

Result<std::shared_ptr<store::Store>> make_quorum_store(std::vector<MemberStore> stores,
                                                        const Options& options,
                                                        std::shared_ptr<runtime::Runtime> runtime) {
  if (stores.size() < min_members || stores.size() > max_members) {
    return fail(Errc::bad_input, fmt::format("store: redlock: needs {} to {} members; got {}",
                                             min_members, max_members, stores.size()));
  }
  Members members;
  for (auto& each : stores) {
    members.push_back(std::make_unique<Member>(std::move(each.store), std::move(each.address),
                                               each.forgets_nothing));
    members.back()->look_again(runtime->now());
  }
  if (const auto twins = find_twins(members, options.allow_same_server)) {
    return fail(Errc::bad_input,
                fmt::format("store: redlock: {}, and would vote twice; for a demonstration on "
                            "several databases of one server there is same_server=allow",
                            *twins));
  }
  auto quorum = std::make_shared<Quorum>(std::move(members), options, std::move(runtime));
  for (std::size_t at = 0; at < quorum->size(); ++at) {
    quorum->members()[at]->store->on_change([weak = std::weak_ptr(quorum), at] {
      if (const auto still_there = weak.lock()) still_there->may_have_changed(at);
    });
  }
  return std::make_shared<QuorumStore>(std::move(quorum));
}

}  // namespace holdfast::backends::quorum
