// SPDX-License-Identifier: Apache-2.0
#include "store_contract.hpp"

#include <algorithm>
#include <set>

namespace holdfast::test {

using Names = std::vector<std::string>;

TEST_P(StoreContract, a_listing_shows_what_is_held_and_waited_for_and_nothing_else) {
  granted(acquire({.owner = "anna", .note = "nightly"}));
  auto ben = queue_up({.owner = "ben", .request = 101, .note = "hourly"});
  granted(acquire({.owner = "cleo"}, "released"));
  release("cleo", 1, "released");
  granted(acquire({.owner = "dora", .ttl = 300ms}, "expired"));
  ASSERT_TRUE(eventually([&] { return list("").locks.size() == 1; }));
  const auto page = list("");
  ASSERT_EQ(page.locks.size(), 1U);
  EXPECT_TRUE(page.next.empty());
  const auto& lock = page.locks[0];
  EXPECT_EQ(lock.name, "orders:42");
  EXPECT_EQ(lock.kind, Kind::mutex);
  ASSERT_EQ(lock.holders.size(), 1U);
  EXPECT_EQ(lock.holders[0].metadata->note, "nightly");
  EXPECT_GT(lock.holders[0].remaining, 5s);
  EXPECT_GE(lock.holders[0].held_for, 20ms) << "so long the other one held";
  ASSERT_EQ(lock.waiters.size(), 1U);
  EXPECT_EQ(lock.waiters[0].metadata->note, "hourly");
}

TEST_P(StoreContract, a_listing_goes_through_every_lock_exactly_once_page_by_page) {
  std::set<std::string> expected;
  for (int i = 0; i < 57; ++i) {
    const auto name = "page/" + std::to_string(i * 7919);
    granted(acquire({.owner = "anna"}, name));
    expected.insert(name);
  }
  for (const std::uint32_t limit : {1U, 2U, 10U, 57U, 100U}) {
    const auto names = names_listed("page/", limit);
    EXPECT_EQ(names.size(), expected.size()) << "limit " << limit;
    EXPECT_EQ(std::set<std::string>(names.begin(), names.end()), expected) << "limit " << limit;
  }
}

TEST_P(StoreContract, a_listing_keeps_to_its_prefix) {
  for (const auto* name : {"a", "ab", "abc", "abd", "b", "a b", "A", "ab\xc3\xa9"}) {
    granted(acquire({.owner = "anna"}, name));
  }
  auto names = names_listed("ab", 2);
  std::ranges::sort(names);
  EXPECT_EQ(names, (Names{"ab", "abc", "abd", "ab\xc3\xa9"}));
  EXPECT_TRUE(names_listed("abcd").empty());
  EXPECT_EQ(names_listed("").size(), 8U);
}

TEST_P(StoreContract, locks_that_stay_are_listed_although_others_come_and_go_between_pages) {
  for (int i = 0; i < 20; ++i) granted(acquire({.owner = "anna"}, "stay" + std::to_string(i)));
  std::set<std::string> seen;
  std::string cursor;
  int round = 0;
  do {
    const auto page = list("", cursor, 3);
    for (const auto& lock : page.locks) {
      EXPECT_TRUE(seen.insert(lock.name).second || !lock.name.starts_with("stay")) << lock.name;
    }
    cursor = page.next;
    granted(acquire({.owner = "ben"}, "come" + std::to_string(round)));
    if (round > 0) release("ben", 1, "come" + std::to_string(round - 1));
    ASSERT_LT(++round, 50);
  } while (!cursor.empty());
  EXPECT_EQ(std::ranges::count_if(seen, [](const auto& n) { return n.starts_with("stay"); }), 20);
}

TEST_P(StoreContract, a_cursor_that_no_page_gave_out_is_bad_input_or_the_end) {
  granted(acquire({.owner = "anna"}));
  store::ListRequest request{.cursor = "\x01not a cursor\xff", .limit = 10, .deadline = soon()};
  const auto page = runtime::run_blocking(store->list(std::move(request)));
  EXPECT_TRUE(page.has_value() || page.error().code == Errc::bad_input);
}

TEST_P(StoreContract, a_look_says_who_holds_who_waits_and_what_is_mine) {
  spec = Spec::semaphore(3);
  if (const auto reason = why_not(spec); !reason.empty()) GTEST_SKIP() << reason;
  const auto grant = granted(acquire({.owner = "anna", .permits = 2, .note = "nightly"}));
  auto ben = queue_up({.owner = "ben", .request = 101, .permits = 3});
  const auto seen = must_be<model::Seen>(apply({spec, model::Inspect{owner_named("anna")}}));
  EXPECT_EQ(seen.lock.kind, Kind::semaphore);
  EXPECT_EQ(seen.lock.capacity, 3U);
  ASSERT_EQ(seen.lock.holders.size(), 1U);
  EXPECT_EQ(seen.lock.holders[0].fence, grant.fence);
  EXPECT_EQ(seen.lock.holders[0].permits, 2U);
  EXPECT_EQ(seen.lock.waiters.size(), 1U);
  ASSERT_TRUE(seen.mine.has_value());
  EXPECT_EQ(seen.mine->fence, grant.fence);
  const auto others = must_be<model::Seen>(apply({spec, model::Inspect{owner_named("ben")}}));
  EXPECT_FALSE(others.mine.has_value());
}

TEST_P(StoreContract, a_look_at_a_name_that_nobody_uses_finds_nobody) {
  const auto seen = inspect("never heard of");
  EXPECT_TRUE(seen.holders.empty());
  EXPECT_TRUE(seen.waiters.empty());
  EXPECT_TRUE(names_listed("").empty());
}

TEST_P(StoreContract, metadata_comes_back_as_it_was_given) {
  auto process =
      std::make_shared<ProcessInfo>(ProcessInfo{"host-7", "report", 4711, 1'794'778'200'250});
  auto metadata = std::make_shared<Metadata>(
      Metadata{process, "report.cpp:42", "line one\nline \xe2\x9c\x93", std::string(2000, 'v')});
  auto command = to_command(spec.kind, {.owner = "anna"});
  command.metadata = metadata;
  granted(apply({spec, command}));
  const auto seen = inspect();
  ASSERT_EQ(seen.holders.size(), 1U);
  const auto& back = *seen.holders[0].metadata;
  EXPECT_EQ(*back.process, *process);
  EXPECT_EQ(back.source, metadata->source);
  EXPECT_EQ(back.note, metadata->note);
  EXPECT_EQ(back.value, metadata->value);
}

}  // namespace holdfast::test
