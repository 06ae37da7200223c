// SPDX-License-Identifier: Apache-2.0
#include "backends/memory/memory_store.hpp"

#include <holdfast/holdfast.hpp>

#include "client/core.hpp"
#include "support/hand_runtime.hpp"

#include <gtest/gtest.h>

namespace holdfast::backends::memory {
namespace {

using namespace std::chrono_literals;

class MemoryStoreTest : public testing::Test {
 public:
  Client client_of(std::shared_ptr<store::Store> store) const {
    return Client(client::make_core(std::move(store), runtime));
  }
  std::shared_ptr<test::HandRuntime> runtime = std::make_shared<test::HandRuntime>();
};

TEST_F(MemoryStoreTest, two_stores_share_nothing) {
  const auto one = client_of(make_memory_store(runtime));
  const auto two = client_of(make_memory_store(runtime));
  const auto lease = one.mutex("orders").acquire();
  EXPECT_TRUE(two.mutex("orders").try_acquire().has_value());
}

TEST_F(MemoryStoreTest, a_named_store_is_shared_as_long_as_somebody_keeps_it) {
  auto one = shared_memory_store("shop", runtime);
  EXPECT_EQ(shared_memory_store("shop", runtime), one);
  EXPECT_NE(shared_memory_store("bar", runtime), one);
  const auto lease = client_of(one).mutex("orders").acquire();
  EXPECT_FALSE(client_of(shared_memory_store("shop", runtime)).mutex("orders").try_acquire());
  const std::weak_ptr<store::Store> watch = one;
  one.reset();
  EXPECT_FALSE(watch.expired()) << "its lease keeps it";
}

TEST_F(MemoryStoreTest, a_named_store_that_nobody_keeps_starts_afresh) {
  const std::weak_ptr<store::Store> watch = shared_memory_store("shop", runtime);
  EXPECT_TRUE(watch.expired());
  EXPECT_NE(shared_memory_store("shop", runtime), nullptr);
}

TEST_F(MemoryStoreTest, a_later_store_gives_larger_fences) {
  const auto first = client_of(make_memory_store(runtime)).mutex("a").acquire().value();
  const auto second = client_of(make_memory_store(runtime)).mutex("a").acquire().value();
  EXPECT_GT(second.fence(), first.fence());
}

TEST_F(MemoryStoreTest, an_inadmissible_command_is_refused_and_changes_nothing) {
  const auto store = make_memory_store(runtime);
  model::Acquire verb{
      .owner = OwnerId::make("anna").value(), .request = model::RequestId{1}, .ttl = -1us};
  auto task = store->apply({.name = LockName::make("orders").value(),
                            .command = model::LockCommand{{}, std::move(verb)}});
  ASSERT_TRUE(task.is_ready()) << "an embedded store never suspends";
  const auto reply = task.take_ready();
  ASSERT_FALSE(reply.has_value());
  EXPECT_EQ(reply.error().code, Errc::bad_input);
  EXPECT_TRUE(client_of(store).list().value().locks.empty());
}

TEST_F(MemoryStoreTest, says_what_it_is_and_can) {
  const auto store = make_memory_store(runtime);
  EXPECT_EQ(store->describe(), "memory:");
  EXPECT_TRUE(store->capabilities().queues);
  EXPECT_TRUE(store->supports(model::LockSpec::mutex(Order::fifo)).has_value());
}

}  // namespace
}  // namespace holdfast::backends::memory
