// SPDX-License-Identifier: Apache-2.0
#include <holdfast/holdfast.hpp>

#include "backends/memory/memory_store.hpp"
#include "client/core.hpp"
#include "support/hand_runtime.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace holdfast::backends::memory {
namespace {

using namespace std::chrono_literals;

class MemoryListing : public testing::Test {
 public:
  void take(const std::string& name) {
    auto lease = client.mutex(name).acquire({.ttl = 1h, .renew = false});
    ASSERT_TRUE(lease.has_value());
    leases.emplace(name, std::move(*lease));
  }
  std::vector<std::string> read_page(std::string& cursor, std::uint32_t limit) {
    const auto page = client.list({.prefix = prefix, .cursor = cursor, .limit = limit}).value();
    EXPECT_LE(page.locks.size(), limit);
    cursor = page.next;
    std::vector<std::string> names;
    names.reserve(page.locks.size());
    for (const auto& lock : page.locks) names.push_back(lock.name);
    return names;
  }
  std::multiset<std::string> read_all(std::uint32_t limit) {
    std::multiset<std::string> names;
    std::string cursor;
    do {
      const auto page = read_page(cursor, limit);
      names.insert(page.begin(), page.end());
    } while (!cursor.empty());
    return names;
  }

  std::shared_ptr<test::HandRuntime> runtime = std::make_shared<test::HandRuntime>();
  Client client{client::make_core(make_memory_store(runtime), runtime)};
  std::map<std::string, Lease> leases;
  std::string prefix;
};

TEST_F(MemoryListing, shows_every_lock_once_whatever_the_size_of_the_pages) {
  std::multiset<std::string> names;
  for (int i = 0; i < 300; ++i) {
    const auto name = "job/" + std::to_string(i);
    take(name);
    names.insert(name);
  }
  for (const std::uint32_t limit : {1U, 2U, 7U, 64U, 299U, 300U, 301U, 1000U}) {
    EXPECT_EQ(read_all(limit), names) << limit;
  }
}

TEST_F(MemoryListing, of_an_empty_store_is_one_empty_page) {
  std::string cursor;
  EXPECT_TRUE(read_page(cursor, 10).empty());
  EXPECT_TRUE(cursor.empty());
}

TEST_F(MemoryListing, keeps_to_its_prefix) {
  take("a/1");
  take("a/2");
  take("b/1");
  prefix = "a/";
  EXPECT_EQ(read_all(1), (std::multiset<std::string>{"a/1", "a/2"}));
}

TEST_F(MemoryListing, names_with_slashes_and_digits_do_not_confuse_the_cursor) {
  const std::multiset<std::string> names{"1/2/3", "/", "//", "63/x", "0/"};
  for (const auto& name : names) take(name);
  EXPECT_EQ(read_all(1), names);
}

// What stays is shown exactly once; what comes or goes meanwhile, at most once.
TEST_F(MemoryListing, misses_and_repeats_nothing_while_others_come_and_go) {
  constexpr std::uint64_t seed = 42;
  std::mt19937_64 dice(seed);
  for (int i = 0; i < 200; ++i) take("stays-" + std::to_string(i));
  for (int i = 0; i < 200; ++i) take("goes-" + std::to_string(i));
  std::multiset<std::string> seen;
  std::string cursor;
  int fresh = 0;
  do {
    const auto page = read_page(cursor, 9);
    seen.insert(page.begin(), page.end());
    for (int i = 0; i < 5; ++i) {
      leases.erase("goes-" + std::to_string(dice() % 200));
      take("comes-" + std::to_string(fresh++));
    }
  } while (!cursor.empty());
  for (int i = 0; i < 200; ++i) EXPECT_EQ(seen.count("stays-" + std::to_string(i)), 1U);
  for (const auto& name : seen) EXPECT_EQ(seen.count(name), 1U) << name << ", seed " << seed;
}

TEST_F(MemoryListing, a_cursor_that_is_none_is_refused) {
  for (const std::string_view cursor : {"x", "64/", "-1/", "1", "99999999999999999999/", "/a"}) {
    const auto refused = client.list({.cursor = cursor});
    ASSERT_FALSE(refused.has_value()) << cursor;
    EXPECT_EQ(refused.error().code, Errc::bad_input);
  }
}

TEST_F(MemoryListing, shows_holders_and_waiters_but_no_owner) {
  auto lease = client.mutex("orders").acquire({.owner = "secret", .note = "payroll"});
  const auto page = client.list().value();
  ASSERT_EQ(page.locks.size(), 1U);
  EXPECT_EQ(page.locks[0].holders.at(0).metadata->note, "payroll");
  EXPECT_EQ(page.locks[0].kind, Kind::mutex);
}

}  // namespace
}  // namespace holdfast::backends::memory
