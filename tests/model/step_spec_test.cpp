// SPDX-License-Identifier: Apache-2.0
#include "support/model_world.hpp"

#include <ostream>

namespace holdfast::test {
namespace {

using model::LockSpec;

struct Disagreement {
  const char* name;
  LockSpec bound;
  LockSpec wanted;

  friend void PrintTo(const Disagreement& pair, std::ostream* out) { *out << pair.name; }
};

class StepSpec : public testing::TestWithParam<Disagreement> {};

TEST_P(StepSpec, another_spec_on_a_name_in_use_is_refused_and_changes_nothing) {
  ModelLock lock(GetParam().bound);
  granted(lock.acquire_as(GetParam().bound, {.owner = "anna"}));
  EXPECT_EQ(refused(lock.acquire_as(GetParam().wanted, {.owner = "ben"})), Errc::spec_mismatch);
  EXPECT_EQ(refused(lock.acquire_as(GetParam().wanted, {.owner = "ben", .wait = true})),
            Errc::spec_mismatch);
  EXPECT_EQ(holders(lock), Owners{"anna"});
  EXPECT_TRUE(lock.state.queue.empty());
}

TEST_P(StepSpec, a_name_is_free_for_another_spec_when_nobody_holds_it) {
  ModelLock lock(GetParam().bound);
  granted(lock.acquire_as(GetParam().bound, {.owner = "anna"}));
  lock.release("anna");
  granted(lock.acquire_as(GetParam().wanted, {.owner = "ben"}));
}

TEST_P(StepSpec, a_name_is_free_for_another_spec_when_its_leases_ended) {
  ModelLock lock(GetParam().bound);
  granted(lock.acquire_as(GetParam().bound, {.owner = "anna", .ttl = 1s}));
  lock.pass(1s);
  granted(lock.acquire_as(GetParam().wanted, {.owner = "ben"}));
}

INSTANTIATE_TEST_SUITE_P(
    Pairs, StepSpec,
    testing::Values(
        Disagreement{"mutex_and_reentrant", LockSpec::mutex(), LockSpec::reentrant()},
        Disagreement{"reentrant_and_mutex", LockSpec::reentrant(), LockSpec::mutex()},
        Disagreement{"read_write_and_election", LockSpec::read_write(), LockSpec::election()},
        Disagreement{"reentrant_and_election", LockSpec::reentrant(), LockSpec::election()},
        Disagreement{"reentrant_and_semaphore_of_one", LockSpec::reentrant(),
                     LockSpec::semaphore(1)},
        Disagreement{"semaphores_of_3_and_4", LockSpec::semaphore(3), LockSpec::semaphore(4)},
        Disagreement{"mutex_and_semaphore", LockSpec::mutex(), LockSpec::semaphore(1)},
        Disagreement{"automatic_and_barging", LockSpec::mutex(), LockSpec::mutex(Order::barging)},
        Disagreement{"barging_and_fifo", LockSpec::mutex(Order::barging),
                     LockSpec::mutex(Order::fifo)}),
    [](const auto& param) { return param.param.name; });

TEST(StepSpecs, an_automatic_order_agrees_with_any) {
  for (const auto order : {Order::fifo, Order::barging}) {
    ModelLock lock(LockSpec::mutex(order));
    granted(lock.acquire({.owner = "anna"}));
    busy(lock.acquire_as(LockSpec::mutex(), {.owner = "ben"}));
    EXPECT_EQ(lock.seen().order, order);
  }
}

TEST(StepSpecs, a_waiter_alone_binds_the_name_too) {
  ModelLock lock(LockSpec::mutex(Order::barging));
  granted(lock.acquire({.owner = "anna"}));
  queued(lock.acquire({.owner = "ben", .wait = true}));
  lock.release("anna");
  EXPECT_EQ(refused(lock.acquire_as(LockSpec::semaphore(2), {.owner = "cleo"})),
            Errc::spec_mismatch);
}

}  // namespace
}  // namespace holdfast::test
