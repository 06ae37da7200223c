// SPDX-License-Identifier: Apache-2.0
#include "backends/quorum/ear.hpp"

#include "backends/memory/memory_store.hpp"
#include "support/ask.hpp"
#include "support/hand_runtime.hpp"
#include "support/running.hpp"

#include <gtest/gtest.h>

namespace holdfast::test {
namespace {

using backends::quorum::Ear;
using backends::quorum::Member;
using backends::quorum::Members;
using model::RequestId;
using runtime::LocalTime;
using store::Notice;
using Reason = Notice::Reason;

class EarTest : public testing::Test {
 public:
  void SetUp() override {
    for (const auto* address : {"a", "b", "c"}) {
      members.push_back(
          std::make_unique<Member>(backends::memory::make_memory_store(runtime), address));
    }
  }
  // Nobody is left waiting.
  void TearDown() override {
    ear->unregister();
    runtime->advance(61s);
  }
  Running<Notice> next(Micros within = 60s) {
    Running<Notice> waiting(Ear::next(ear, runtime->now() + within));
    runtime->run();
    return waiting;
  }
  model::LockOutcome apply_at(std::size_t member, model::LockCommand command) {
    Running<Result<store::Reply>> asking(members[member]->store->apply(
        {.name = name, .command = std::move(command), .deadline = runtime->now() + 1s}));
    runtime->run();
    return std::get<model::LockOutcome>(value_of(asking.result()).outcome);
  }
  // Anna has it at the member; the ear's owner stands in line there.
  void stand_in_line_at(std::size_t member) {
    granted(apply_at(member, {spec, to_command(Kind::mutex, {.owner = "anna"})}));
    auto wanted = to_command(Kind::mutex, {.owner = "ben", .request = 7});
    ear->adapt(member, wanted);
    EXPECT_TRUE(wanted.wait);
    queued(apply_at(member, {spec, std::move(wanted)}));
  }
  void release_at(std::size_t member) {
    apply_at(member, {spec, model::Release{owner_named("anna"), RequestId{1}}});
  }

  const LockName name = LockName::make("orders:42").value();
  const model::LockSpec spec = model::LockSpec::mutex(Order::barging);
  std::shared_ptr<HandRuntime> runtime = std::make_shared<HandRuntime>();
  Members members;
  std::shared_ptr<Ear> ear = std::make_shared<Ear>(runtime, model::ProcessId{77});
};

TEST_F(EarTest, hears_nothing_until_the_deadline) {
  auto waiting = next(1s);
  runtime->advance(1s - 1us);
  EXPECT_FALSE(waiting.done());
  runtime->advance(1us);
  EXPECT_EQ(waiting.result().reason, Reason::deadline);
}

TEST_F(EarTest, keeps_a_poke_and_a_hint_for_the_next_wait) {
  ear->poke();
  EXPECT_EQ(next().result().reason, Reason::poked);
  ear->hint();
  ear->hint();
  EXPECT_EQ(next().result().reason, Reason::hint);
  EXPECT_FALSE(next(1s).done()) << "two hints are one";
}

TEST_F(EarTest, is_woken_by_the_first_member_that_changes) {
  ear->register_as(members, name, owner_named("ben"), RequestId{7}, runtime->now());
  for (std::size_t at = 0; at < 3; ++at) stand_in_line_at(at);
  auto waiting = next();
  EXPECT_FALSE(waiting.done());
  release_at(1);
  runtime->run();
  EXPECT_EQ(waiting.result().reason, Reason::hint);
}

TEST_F(EarTest, registers_again_well_before_a_queue_is_forgotten) {
  const LocalTime start = runtime->now();
  EXPECT_FALSE(ear->must_register(start, false))
      << "most first questions are answered with the lock";
  EXPECT_TRUE(ear->must_register(start, false));
  ear->register_as(members, name, owner_named("ben"), RequestId{7}, start);
  EXPECT_FALSE(ear->must_register(start, false));
  EXPECT_FALSE(ear->must_register(start + 3s, false));
  EXPECT_TRUE(ear->must_register(start + model::limits::queue_ttl / 2, false));
  EXPECT_TRUE(ear->must_register(start, true)) << "readers ask from their own place";
}

TEST_F(EarTest, tells_each_member_the_place_it_had_there) {
  ear->register_as(members, name, owner_named("ben"), RequestId{7}, runtime->now());
  ear->stands_in_line(1, RequestId{7}, 1234);
  ear->stands_in_line(2, RequestId{6}, 77);
  const auto place = ear->unregister();
  EXPECT_EQ(place.request, RequestId{7});
  EXPECT_EQ(place.members, std::vector<std::size_t>{1}) << "not of an earlier request";
  ear->register_as(members, name, owner_named("ben"), RequestId{8}, runtime->now());
  model::Acquire at_one{.owner = owner_named("ben")};
  ear->adapt(1, at_one);
  EXPECT_EQ(at_one.place, 1234U);
  model::Acquire at_two{.owner = owner_named("ben")};
  ear->adapt(2, at_two);
  EXPECT_EQ(at_two.place, 0U);
}

TEST_F(EarTest, that_stopped_listening_hears_nothing_more) {
  ear->register_as(members, name, owner_named("ben"), RequestId{7}, runtime->now());
  for (std::size_t at = 0; at < 3; ++at) stand_in_line_at(at);
  EXPECT_EQ(ear->unregister().request, RequestId{7});
  EXPECT_EQ(ear->unregister().request, RequestId::any) << "only once";
  release_at(0);
  EXPECT_EQ(runtime->jobs(), 0U);
  EXPECT_FALSE(next(1s).done());
}

// Each hint comes from a rival that stands back as well.
TEST_F(EarTest, that_stands_back_keeps_a_hint_until_its_time_is_over) {
  const auto pause = ear->stand_back(runtime->now(), 10ms, 400ms, 15'000);
  EXPECT_EQ(pause, 15ms);
  ear->hint();
  auto waiting = next();
  runtime->advance(15ms - 1us);
  EXPECT_FALSE(waiting.done());
  runtime->advance(1us);
  EXPECT_EQ(waiting.result().reason, Reason::hint);
}

TEST_F(EarTest, that_stands_back_hears_a_poke_at_once) {
  ear->stand_back(runtime->now(), 10ms, 400ms, 15'000);
  ear->hint();
  auto waiting = next();
  ear->poke();
  runtime->run();
  EXPECT_EQ(waiting.result().reason, Reason::poked);
}

TEST_F(EarTest, stands_back_within_twice_as_long_each_time_up_to_a_limit) {
  const std::uint64_t most_random = UINT64_MAX;
  Micros span = 20ms;
  for (int meeting = 0; meeting < 12; ++meeting) {
    const auto pause = ear->stand_back(runtime->now(), 10ms, 400ms, most_random);
    const Micros limit = std::min<Micros>(span, 400ms);
    EXPECT_EQ(pause, Micros(most_random % static_cast<std::uint64_t>(limit.count()))) << meeting;
    EXPECT_LT(pause, limit);
    span *= 2;
  }
  ear->met_no_rival();
  EXPECT_LT(ear->stand_back(runtime->now(), 10ms, 400ms, most_random), 20ms) << "as at first";
}

TEST_F(EarTest, stands_back_a_little_even_if_rounds_take_no_time) {
  EXPECT_EQ(ear->stand_back(runtime->now(), 0ms, 0ms, 999), 999us);
  EXPECT_LT(ear->stand_back(runtime->now(), 0ms, 0ms, 123'456), 1ms);
}

}  // namespace
}  // namespace holdfast::test
