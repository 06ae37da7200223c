// SPDX-License-Identifier: Apache-2.0
#include "quorum_fixture.hpp"

#include "backends/memory/memory_store.hpp"

namespace holdfast::test {

using backends::memory::make_memory_store;
using backends::quorum::make_quorum_store;
using backends::quorum::MemberStore;

namespace {

std::string address_of(std::size_t member) { return "m" + std::to_string(member); }

LockName name_of(std::string_view text) { return LockName::make(text).value(); }

}  // namespace

void QuorumTest::TearDown() {
  for (const auto& member : members) member->resume();
  store.reset();
  EXPECT_TRUE(runtime->settle()) << runtime->timers() << " timers go on for ever";
}

StorePtr QuorumTest::open_again(const Options& options) {
  std::vector<MemberStore> stores;
  for (std::size_t at = 0; at < members.size(); ++at) {
    other_lines.push_back(members[at]->another_line());
    stores.push_back({other_lines.back(), address_of(at)});
  }
  return value_of(make_quorum_store(std::move(stores), options, runtime));
}

void QuorumTest::open(std::size_t count, const Options& options) {
  std::vector<MemberStore> stores;
  for (std::size_t at = 0; at < count; ++at) {
    members.push_back(FaultStore::over(runtime, [r = runtime] { return make_memory_store(r); }));
    known.push_back(std::make_shared<KnownStore>(members.back()));
    stores.push_back({known.back(), address_of(at)});
  }
  store = value_of(make_quorum_store(std::move(stores), options, runtime));
}

QuorumTest::Asking QuorumTest::start(const model::LockCommand& command, std::stop_token stop,
                                     std::string_view name) const {
  store::Request request{
      .name = name_of(name), .command = command, .deadline = now() + 60s, .stop = std::move(stop)};
  Asking asking(store->apply(std::move(request)));
  runtime->run();
  return asking;
}

QuorumTest::Asking QuorumTest::start_renewal(std::string_view owner, Micros ttl,
                                             std::uint64_t request) const {
  return start({spec, model::Renew{owner_named(owner), model::RequestId{request}, ttl}});
}

QuorumTest::Asking QuorumTest::start_release(std::string_view owner, std::uint64_t request) const {
  return start({spec, model::Release{owner_named(owner), model::RequestId{request}}});
}

Result<model::LockOutcome> QuorumTest::send(const model::LockCommand& command,
                                            std::string_view name) const {
  auto asking = start(command, {}, name);
  auto& reply = asking.result();
  if (!reply) return std::unexpected(reply.error());
  return std::get<model::LockOutcome>(reply->outcome);
}

model::LockOutcome QuorumTest::apply(const model::LockCommand& command,
                                     std::string_view name) const {
  auto asking = start(command, {}, name);
  return outcome_of(asking.result());
}

model::LockOutcome QuorumTest::renew(std::string_view owner, Micros ttl,
                                     std::uint64_t request) const {
  return apply({spec, model::Renew{owner_named(owner), model::RequestId{request}, ttl}});
}

model::LockOutcome QuorumTest::release(std::string_view owner, std::uint64_t request) const {
  return apply({spec, model::Release{owner_named(owner), model::RequestId{request}}});
}

model::LockOutcome QuorumTest::apply_at(std::size_t member, const model::LockCommand& command,
                                        std::string_view name) const {
  Asking asking(members[member]->inner()->apply(
      {.name = name_of(name), .command = command, .deadline = now() + 1s}));
  return outcome_of(asking.result());
}

// As a client of a quorum asks its members.
void QuorumTest::take_at(const std::vector<std::size_t>& at, const Ask& ask) {
  auto barging = spec;
  barging.order = Order::barging;
  for (const auto member : at) {
    granted(apply_at(member, {barging, to_command(spec.kind, ask)}));
  }
}

void QuorumTest::raise_fences_at(std::size_t member, Fence fence) {
  apply_at(member, {spec, model::Renew{owner_named("nobody"), model::RequestId{99}, 20ms, fence}},
           "another");
}

LockView QuorumTest::seen_at(std::size_t member, std::string_view name) const {
  return must_be<model::Seen>(apply_at(member, {{}, model::Inspect{}}, name)).lock;
}

std::vector<std::size_t> QuorumTest::holders() const {
  std::vector<std::size_t> each;
  for (std::size_t at = 0; at < members.size(); ++at) each.push_back(seen_at(at).holders.size());
  return each;
}

std::vector<std::size_t> QuorumTest::waiters() const {
  std::vector<std::size_t> each;
  for (std::size_t at = 0; at < members.size(); ++at) each.push_back(seen_at(at).waiters.size());
  return each;
}

std::vector<Fence> QuorumTest::fences() const {
  std::vector<Fence> each;
  for (std::size_t at = 0; at < members.size(); ++at) {
    const auto seen = seen_at(at);
    each.push_back(seen.holders.empty() ? 0 : seen.holders[0].fence);
  }
  return each;
}

void QuorumTest::script(const std::vector<std::size_t>& at, Verb verb, Fault fault,
                        unsigned count) {
  for (const auto member : at) members[member]->script(verb, fault, count);
}

unsigned QuorumTest::count(Verb verb) const {
  unsigned all = 0;
  for (const auto& member : members) all += member->count(verb);
  return all;
}

}  // namespace holdfast::test
