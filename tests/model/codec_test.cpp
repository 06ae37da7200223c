// SPDX-License-Identifier: Apache-2.0
#include "model/codec.hpp"

#include "support/document.hpp"
#include "support/random_text.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <sstream>
#include <string>

namespace holdfast::model {
namespace {

using namespace std::chrono_literals;

std::string encoded_lock(const LockState& state) {
  std::string bytes;
  encode(state, bytes);
  return bytes;
}

StoreTime random_time(test::Random& random) { return StoreTime(Micros(random.bits() >> 5U)); }

MetadataPtr random_metadata(test::Random& random) {
  if (random.one_in(3)) return nullptr;
  auto metadata = std::make_shared<Metadata>(
      Metadata{nullptr, random.bytes(30), random.bytes(60), random.bytes(8)});
  if (random.one_in(3)) return metadata;
  metadata->process = std::make_shared<ProcessInfo>(
      ProcessInfo{random.bytes(20), random.bytes(20), static_cast<std::int64_t>(random.bits()),
                  random.one_in(3) ? 0 : static_cast<std::int64_t>(random.bits())});
  return metadata;
}

OwnerId random_owner(test::Random& random) {
  if (random.one_in(2)) return OwnerId::from_random(random.bits(), random.bits());
  return *OwnerId::make(std::string(1 + random.below(max_owner_bytes), 'o'));
}

Hold random_hold(test::Random& random) {
  return Hold{.owner = random_owner(random),
              .request = RequestId{random.bits()},
              .process = ProcessId{random.bits()},
              .permits = static_cast<std::uint32_t>(random.bits()),
              .claimed = random.one_in(2),
              .fence = random.bits(),
              .expires = random_time(random),
              .since = random_time(random),
              .ttl = Micros(random.bits() >> 4U),
              .metadata = random_metadata(random)};
}

Waiter random_waiter(test::Random& random) {
  return Waiter{.owner = random_owner(random),
                .request = RequestId{random.bits()},
                .process = ProcessId{random.bits()},
                .permits = static_cast<std::uint32_t>(random.bits()),
                .converts = RequestId{random.bits()},
                .since = random_time(random),
                .ttl = Micros(random.bits() >> 4U),
                .claim = Micros(random.bits() >> 4U),
                .metadata = random_metadata(random)};
}

LockState random_state(test::Random& random, std::size_t most) {
  LockState state;
  state.spec = {static_cast<Kind>(1 + random.below(5)), static_cast<Order>(random.below(3)),
                static_cast<std::uint32_t>(random.bits())};
  state.queue_expires = random_time(random);
  const auto holds = random.below(most + 1);
  for (std::size_t at = 0; at < holds; ++at) state.holds.push_back(random_hold(random));
  const auto waiters = random.below(most + 1);
  for (std::size_t at = 0; at < waiters; ++at) {
    state.queue.emplace(random.bits(), random_waiter(random));
  }
  if (random.below(2) == 0) state.offer = {random.bits(), random_time(random)};
  return state;
}

void expect_same(const MetadataPtr& a, const MetadataPtr& b) {
  ASSERT_EQ(a == nullptr, b == nullptr);
  if (!a) return;
  EXPECT_EQ(a->source, b->source);
  EXPECT_EQ(a->note, b->note);
  EXPECT_EQ(a->value, b->value);
  ASSERT_EQ(a->process == nullptr, b->process == nullptr);
  if (!a->process) return;
  EXPECT_EQ(*a->process, *b->process);
}

void expect_same(const Hold& a, const Hold& b) {
  EXPECT_EQ(a.owner, b.owner);
  EXPECT_EQ(a.request, b.request);
  EXPECT_EQ(a.process, b.process);
  EXPECT_EQ(a.permits, b.permits);
  EXPECT_EQ(a.claimed, b.claimed);
  EXPECT_EQ(a.fence, b.fence);
  EXPECT_EQ(a.expires, b.expires);
  EXPECT_EQ(a.since, b.since);
  EXPECT_EQ(a.ttl, b.ttl);
  expect_same(a.metadata, b.metadata);
}

void expect_same(const Waiter& a, const Waiter& b) {
  EXPECT_EQ(a.owner, b.owner);
  EXPECT_EQ(a.request, b.request);
  EXPECT_EQ(a.process, b.process);
  EXPECT_EQ(a.permits, b.permits);
  EXPECT_EQ(a.converts, b.converts);
  EXPECT_EQ(a.since, b.since);
  EXPECT_EQ(a.ttl, b.ttl);
  EXPECT_EQ(a.claim, b.claim);
  expect_same(a.metadata, b.metadata);
}

void expect_same(const LockState& a, const LockState& b) {
  EXPECT_EQ(a.spec, b.spec);
  EXPECT_EQ(a.queue_expires, b.queue_expires);
  EXPECT_EQ(a.offer, b.offer);
  ASSERT_EQ(a.holds.size(), b.holds.size());
  for (std::size_t at = 0; at < a.holds.size(); ++at) expect_same(a.holds[at], b.holds[at]);
  ASSERT_EQ(a.queue.size(), b.queue.size());
  for (auto x = a.queue.begin(), y = b.queue.begin(); x != a.queue.end(); ++x, ++y) {
    EXPECT_EQ(x->first, y->first);
    expect_same(x->second, y->second);
  }
}

testing::AssertionResult not_decoded(std::string_view bytes, std::string_view reason) {
  const auto state = decode(bytes);
  if (state) return testing::AssertionFailure() << "was decoded";
  if (state.error().code != Errc::unavailable ||
      state.error().message.find(reason) == std::string::npos) {
    return testing::AssertionFailure() << state.error().message;
  }
  return testing::AssertionSuccess();
}

// The lock that docs/state-format.md describes.
LockState documented_state() {
  const auto process =
      std::make_shared<ProcessInfo>(ProcessInfo{"web-1", "report", 4711, 1'794'778'200'250});
  LockState state;
  state.spec = LockSpec::read_write(Order::fifo);
  state.queue_expires = StoreTime(70s);
  state.holds.push_back(Hold{
      .owner = *OwnerId::make("alice"),
      .request = RequestId{17},
      .process = ProcessId{3},
      .permits = 1,
      .fence = 1794775011477512,
      .expires = StoreTime(90s),
      .since = StoreTime(59s),
      .ttl = 30s,
      .metadata = std::make_shared<Metadata>(Metadata{process, "report.cpp:42", "nightly", ""})});
  state.queue.emplace(1794775011477513, Waiter{.owner = *OwnerId::make("bob"),
                                               .request = RequestId{18},
                                               .process = ProcessId{4},
                                               .since = StoreTime(60s),
                                               .ttl = 30s,
                                               .claim = 500ms,
                                               .metadata = {}});
  return state;
}

std::string documented_bytes() {
  const auto page = test::read_document("state-format.md");
  const auto begin = page.find("```hex\n") + 7;
  std::istringstream digits(page.substr(begin, page.find("```", begin) - begin));
  std::string bytes;
  for (std::string pair; digits >> pair;) {
    bytes += static_cast<char>(std::stoul(pair, nullptr, 16));
  }
  return bytes;
}

TEST(Codec, the_documented_example_is_what_the_code_writes_and_reads) {
  const auto bytes = documented_bytes();
  EXPECT_EQ(encoded_lock(documented_state()), bytes);
  const auto state = decode(bytes);
  ASSERT_TRUE(state) << state.error().message;
  expect_same(*state, documented_state());
}

TEST(Codec, a_state_survives_the_round_trip) {
  test::Random random;
  for (int round = 0; round < 2000; ++round) {
    const auto state = random_state(random, 5);
    const auto again = decode(encoded_lock(state));
    ASSERT_TRUE(again) << again.error().message;
    expect_same(state, *again);
  }
}

TEST(Codec, encode_replaces_what_was_there) {
  std::string bytes = "left over";
  encode(LockState{}, bytes);
  EXPECT_EQ(bytes.size(), 19U);
  EXPECT_TRUE(decode(bytes));
}

TEST(Codec, every_truncation_is_refused) {
  test::Random random;
  for (int round = 0; round < 50; ++round) {
    const auto bytes = encoded_lock(random_state(random, 3));
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_FALSE(decode(std::string_view(bytes).substr(0, size))) << size;
    }
  }
  EXPECT_TRUE(not_decoded("", "is cut short"));
  EXPECT_TRUE(not_decoded(documented_bytes().substr(0, 193), "is cut short"));
}

// There is one way to write a state, so whatever is accepted reads as exactly these bytes.
void expect_refused_or_exact(const std::string& bytes) {
  const auto state = decode(bytes);
  if (!state) return;
  EXPECT_EQ(encoded_lock(*state), bytes);
}

TEST(Codec, a_changed_byte_is_refused_or_read_as_it_stands) {
  const auto original = documented_bytes();
  for (std::size_t at = 0; at < original.size(); ++at) {
    for (unsigned value = 0; value < 256; ++value) {
      auto bytes = original;
      bytes[at] = static_cast<char>(value);
      expect_refused_or_exact(bytes);
    }
  }
}

TEST(Codec, random_bytes_do_no_harm) {
  test::Random random;
  for (int round = 0; round < 100'000; ++round) {
    auto bytes = random.bytes(200);
    if (!bytes.empty()) bytes[0] = 1;
    expect_refused_or_exact(bytes);
  }
  for (int round = 0; round < 20'000; ++round) {
    auto bytes = encoded_lock(random_state(random, 3));
    for (auto changes = random.below(4) + 1; changes > 0; --changes) {
      bytes[random.below(bytes.size())] = static_cast<char>(random.bits());
    }
    expect_refused_or_exact(bytes);
  }
}

TEST(Codec, what_cannot_be_read_is_named) {
  const auto with = [](std::size_t at, char value) {
    auto bytes = documented_bytes();
    bytes[at] = value;
    return bytes;
  };
  EXPECT_TRUE(not_decoded(with(0, 3), "newer format"));
  EXPECT_TRUE(not_decoded(std::string("\x7f"), "newer format"));
  LockState with_offer;
  with_offer.offer = {7, StoreTime(1s)};
  auto without_an_end = encoded_lock(with_offer);
  without_an_end.replace(27, 8, 8, '\0');
  EXPECT_TRUE(not_decoded(without_an_end, "ends before it began"));
  EXPECT_TRUE(not_decoded(with(0, 0), "no valid format"));
  EXPECT_TRUE(not_decoded(with(1, 0), "unknown kind"));
  EXPECT_TRUE(not_decoded(with(1, 6), "unknown kind"));
  EXPECT_TRUE(not_decoded(with(2, 3), "unknown order"));
  EXPECT_TRUE(not_decoded(with(14, 0x7f), "time out of range"));
  EXPECT_TRUE(not_decoded(with(16, '\xff'), "more holds and waiters"));
  EXPECT_TRUE(not_decoded(with(18, '\xff'), "more holds and waiters"));
  EXPECT_TRUE(not_decoded(with(39, 30), "unknown flags"));
  EXPECT_TRUE(not_decoded(with(39, 4), "unknown flags"));
  EXPECT_TRUE(not_decoded(with(39, 8), "unknown flags"));
  EXPECT_TRUE(not_decoded(with(39, 10), "unknown flags"));
  EXPECT_TRUE(not_decoded(with(71, '\x80'), "duration out of range"));
  EXPECT_TRUE(not_decoded(with(74, '\n'), "owner that is not allowed"));
  EXPECT_TRUE(not_decoded(documented_bytes() + '\0', "bytes after its end"));
}

// As everything was written before the start of a process was known.
TEST(Codec, a_process_without_a_start_is_written_and_read_as_ever) {
  auto state = documented_state();
  auto metadata = *state.holds[0].metadata;
  metadata.process = std::make_shared<ProcessInfo>(ProcessInfo{"web-1", "report", 4711});
  state.holds[0].metadata = std::make_shared<Metadata>(metadata);
  const auto bytes = encoded_lock(state);
  EXPECT_EQ(bytes[39], 6);
  EXPECT_EQ(bytes.size() + sizeof(std::int64_t), documented_bytes().size());
  const auto again = decode(bytes);
  ASSERT_TRUE(again) << again.error().message;
  expect_same(*again, state);
}

TEST(Codec, waiters_out_of_order_are_refused) {
  LockState state;
  state.queue.emplace(1, documented_state().queue.begin()->second);
  state.queue.emplace(2, documented_state().queue.begin()->second);
  auto bytes = encoded_lock(state);
  bytes[19] = 2;
  EXPECT_TRUE(not_decoded(bytes, "waiters out of order"));
}

TEST(Codec, a_lock_at_its_limits_survives) {
  LockState state;
  const auto full = documented_state();
  for (std::size_t at = 0; at < limits::max_holders; ++at) state.holds.push_back(full.holds[0]);
  for (std::size_t at = 0; at < limits::max_waiters; ++at) {
    state.queue.emplace(at, full.queue.begin()->second);
  }
  const auto again = decode(encoded_lock(state));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->holds.size(), limits::max_holders);
  EXPECT_EQ(again->queue.size(), limits::max_waiters);
}

}  // namespace
}  // namespace holdfast::model
