// SPDX-License-Identifier: Apache-2.0
#include "store_contract.hpp"

namespace holdfast::test {

using model::LockCommand;
using model::LockOutcome;
using model::RequestId;

void StoreContract::SetUp() {
  store = open_again();
  ASSERT_NE(store, nullptr);
}

std::shared_ptr<store::Store> StoreContract::open_again() {
  auto opened = GetParam().open(runtime, folder.path());
  if (opened) return *opened;
  ADD_FAILURE() << opened.error().message;
  return nullptr;
}

std::string StoreContract::why_not(const Spec& wanted) const {
  const auto can = store->supports(wanted);
  return can ? std::string() : can.error().message;
}

Result<store::Reply> StoreContract::send(LockCommand command, std::string_view name) {
  store::Request request{.name = name_of(name), .command = std::move(command), .deadline = soon()};
  return runtime::run_blocking(store->apply(std::move(request)));
}

Result<store::Reply> StoreContract::send(model::GuardCommand command, std::string_view name) {
  store::Request request{.name = name_of(name), .command = command, .deadline = soon()};
  return runtime::run_blocking(store->apply(std::move(request)));
}

Result<store::Reply> StoreContract::send(model::RateCommand command, std::string_view scope) {
  auto name = model::limit_name(scope, command.rule);
  if (!name) return std::unexpected(std::move(name.error()));
  store::Request request{.name = std::move(*name), .command = command, .deadline = soon()};
  return runtime::run_blocking(store->apply(std::move(request)));
}

std::string StoreContract::why_no_rate_limits() {
  const RateRule some{.limit = 1, .window = 1s};
  const auto reply = send(model::RateCommand{model::RateCommand::Verb::peek, some}, "probe");
  if (reply) return {};
  EXPECT_EQ(reply.error().code, Errc::unsupported) << reply.error().message;
  return reply.error().message;
}

RateOutcome StoreContract::rate(const model::RateCommand& command, std::string_view scope) {
  const auto reply = send(command, scope);
  if (reply) return std::get<RateOutcome>(reply->outcome);
  ADD_FAILURE() << reply.error().message;
  return {};
}

LockOutcome StoreContract::apply(LockCommand command, std::string_view name) {
  auto reply = send(std::move(command), name);
  if (reply) return std::get<LockOutcome>(std::move(reply->outcome));
  ADD_FAILURE() << reply.error().message;
  return model::Refused{reply.error()};
}

LockOutcome StoreContract::acquire(const Ask& ask, std::string_view name) {
  return apply({spec, to_command(spec.kind, ask)}, name);
}

LockOutcome StoreContract::renew(std::string_view owner, std::uint64_t request, Micros ttl) {
  return apply({spec, model::Renew{owner_named(owner), RequestId{request}, ttl}});
}

LockOutcome StoreContract::release(std::string_view owner, std::uint64_t request,
                                   std::string_view name) {
  return apply({spec, model::Release{owner_named(owner), RequestId{request}}}, name);
}

LockOutcome StoreContract::release_up_to(std::string_view owner, Fence fence) {
  return apply({spec, model::Release{.owner = owner_named(owner), .up_to = fence}});
}

LockOutcome StoreContract::force_release() { return apply({spec, model::ForceRelease{}}); }

LockView StoreContract::inspect(std::string_view name) {
  return must_be<model::Seen>(apply({spec, model::Inspect{}}, name)).lock;
}

model::GuardOutcome StoreContract::check(Fence fence, std::string_view name) {
  const auto reply = send(model::GuardCommand{.fence = fence}, name);
  if (reply) return std::get<model::GuardOutcome>(reply->outcome);
  ADD_FAILURE() << reply.error().message;
  return {};
}

namespace {

constexpr Micros lasting_claim = std::chrono::seconds(10);

}  // namespace

std::optional<QueuedAsk> StoreContract::try_to_queue(Ask ask, std::string_view name) {
  auto ear = store->listen(name_of(name), owner_named(ask.owner), RequestId{ask.request});
  if (!ear) {
    ADD_FAILURE() << ear.error().message;
    return std::nullopt;
  }
  ask.wait = true;
  if (ask.claim == model::limits::default_claim) ask.claim = lasting_claim;
  ask.process = static_cast<std::uint64_t>((*ear)->process());
  QueuedAsk waiter{ask, std::move(*ear)};
  const auto outcome = acquire(ask, name);
  const auto* answer = std::get_if<model::Queued>(&outcome);
  if (!answer) return std::nullopt;
  waiter.ask.place = answer->place;
  // Some put nobody in line before the second question, and want that at once.
  if (answer->retry_after == Micros::zero() &&
      !std::holds_alternative<model::Queued>(ask_again(waiter, name))) {
    return std::nullopt;
  }
  return waiter;
}

QueuedAsk StoreContract::queue_up(const Ask& ask, std::string_view name) {
  auto waiter = try_to_queue(ask, name);
  if (waiter) return *std::move(waiter);
  ADD_FAILURE() << ask.owner << " does not stand in line";
  return {ask, nullptr};
}

std::pair<QueuedAsk, Fence> StoreContract::queue_up_behind_short_lease(const Ask& ask) {
  while (true) {
    const Ask short_lease{.owner = "anna", .request = ++last_fresh_request, .ttl = 100ms};
    const auto fence = granted(acquire(short_lease)).fence;
    if (auto waiter = try_to_queue(ask)) return {*std::move(waiter), fence};
    // It ended too early.
    release(ask.owner, 0);
  }
}

LockOutcome StoreContract::ask_again(QueuedAsk& waiter, std::string_view name) {
  if (store->capabilities().spends_requests) waiter.ask.request = ++last_fresh_request;
  return acquire(waiter.ask, name);
}

std::optional<model::Granted> StoreContract::await_turn(QueuedAsk& waiter, Micros within,
                                                        std::string_view name) {
  const auto deadline = runtime->now() + within;
  while (true) {
    const auto notice = runtime::run_blocking(waiter.ear->next(deadline));
    if (notice.reason == store::Notice::Reason::deadline) return std::nullopt;
    if (notice.reason == store::Notice::Reason::granted) {
      return model::Granted{notice.grant.fence, notice.grant.lease};
    }
    const auto outcome = ask_again(waiter, name);
    if (const auto* grant = std::get_if<model::Granted>(&outcome)) return *grant;
  }
}

LockPage StoreContract::list(std::string prefix, std::string cursor, std::uint32_t limit) {
  store::ListRequest request{
      .prefix = std::move(prefix), .cursor = std::move(cursor), .limit = limit, .deadline = soon()};
  auto page = runtime::run_blocking(store->list(std::move(request)));
  if (page) return std::move(*page);
  ADD_FAILURE() << page.error().message;
  return {};
}

std::vector<std::string> StoreContract::names_listed(const std::string& prefix,
                                                     std::uint32_t limit) {
  std::vector<std::string> names;
  std::string cursor;
  do {
    const auto page = list(prefix, cursor, limit);
    EXPECT_LE(page.locks.size(), limit);
    for (const auto& lock : page.locks) names.push_back(lock.name);
    cursor = page.next;
  } while (!cursor.empty());
  return names;
}

}  // namespace holdfast::test
