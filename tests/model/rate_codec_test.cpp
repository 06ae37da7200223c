// SPDX-License-Identifier: Apache-2.0
#include "rate_fixture.hpp"

namespace holdfast::model {
namespace {

std::string encoded_rate(const RateState& state) {
  std::string bytes = "left over";
  encode(state, bytes);
  return bytes;
}

std::string rate_bytes_refusal(const std::string& bytes) {
  const auto state = decode_rate(bytes);
  if (state) return "none";
  EXPECT_EQ(state.error().code, Errc::unavailable);
  return state.error().message;
}

void expect_rate_round_trip(const RateState& state) {
  const auto bytes = encoded_rate(state);
  const auto again = decode_rate(bytes);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, state);
  EXPECT_EQ(encoded_rate(*again), bytes);
}

StoreTime some_time(test::Random& random) { return StoreTime(Micros(random.bits() >> 5U)); }

RateState some_rate(test::Random& random, RateAlgorithm algorithm) {
  RateState state{.algorithm = algorithm,
                  .seen = some_time(random),
                  .ahead = some_time(random).time_since_epoch(),
                  .expires = some_time(random)};
  if (algorithm == RateAlgorithm::fixed_window) {
    state.begin = some_time(random);
    state.count = random.bits() >> 1U;
  } else if (algorithm == RateAlgorithm::token_bucket) {
    state.level = random.bits() >> 12U;
    state.units = 1 + (random.bits() >> 13U);
  } else {
    auto at = state.seen;
    for (auto left = random.below(200); left > 0; --left, at -= Micros(1 + random.below(1000))) {
      state.hits.push_back({at, static_cast<std::uint32_t>(random.bits() | 1U)});
    }
    std::ranges::reverse(state.hits);
  }
  return state;
}

class RateCodec : public RateLimitTest {};

TEST_F(RateCodec, a_state_survives_the_round_trip) {
  test::Random random;
  for (const auto algorithm : algorithms) {
    for (int i = 0; i < 300; ++i) expect_rate_round_trip(some_rate(random, algorithm));
  }
}

TEST_F(RateCodec, every_state_that_counting_leads_to_survives_it) {
  test::Random random;
  for (const auto algorithm : algorithms) {
    for (const std::uint32_t limit : {3U, 60U, 61U, 100'000U}) {
      state = {};
      for (int i = 0; i < 500; ++i) {
        now += Micros(random.below(100'000)) - 10ms;
        check({.algorithm = algorithm, .limit = limit, .window = 1s},
              static_cast<std::uint32_t>(1 + random.below(3)));
        expect_rate_round_trip(state);
      }
    }
  }
}

TEST_F(RateCodec, the_bytes_are_as_the_document_says) {
  state = {.algorithm = RateAlgorithm::sliding_window,
           .seen = StoreTime(2us),
           .ahead = 3us,
           .expires = StoreTime(4us)};
  state.hits = {{StoreTime(1us), 5}, {StoreTime(2us), 6}};
  using namespace std::string_literals;
  const auto head = "\2\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0\4\0\0\0\0\0\0\0"s;
  EXPECT_EQ(encoded_rate(state),
            "\1\2"s + head + "\2\0\1\0\0\0\0\0\0\0\5\0\0\0\2\0\0\0\0\0\0\0\6\0\0\0"s);
  state = {.algorithm = RateAlgorithm::fixed_window,
           .seen = StoreTime(2us),
           .ahead = 3us,
           .expires = StoreTime(4us),
           .begin = StoreTime(1us),
           .count = 7};
  EXPECT_EQ(encoded_rate(state), "\1\1"s + head + "\1\0\0\0\0\0\0\0\7\0\0\0\0\0\0\0"s);
  state = {.algorithm = RateAlgorithm::token_bucket,
           .seen = StoreTime(2us),
           .ahead = 3us,
           .expires = StoreTime(4us),
           .level = 8,
           .units = 9};
  EXPECT_EQ(encoded_rate(state), "\1\3"s + head + "\x08\0\0\0\0\0\0\0\x09\0\0\0\0\0\0\0"s);
}

TEST_F(RateCodec, bytes_that_are_cut_or_longer_are_refused) {
  test::Random random;
  for (const auto algorithm : algorithms) {
    auto some = some_rate(random, algorithm);
    if (algorithm == RateAlgorithm::sliding_window) some.hits = {{some.seen, 1}};
    const auto good = encoded_rate(some);
    EXPECT_EQ(rate_bytes_refusal(""), "the stored rate limit is cut short");
    EXPECT_EQ(rate_bytes_refusal('\0' + good.substr(1)),
              "the stored rate limit has no valid format number");
    for (std::size_t size = 1; size < good.size(); ++size) {
      EXPECT_NE(rate_bytes_refusal(good.substr(0, size)), "none") << size;
    }
    EXPECT_EQ(rate_bytes_refusal(good + "x"), "the stored rate limit has bytes after its end");
    EXPECT_EQ(rate_bytes_refusal("\x02" + good.substr(1)),
              "the stored rate limit was written in a newer format than this version reads");
    for (const char number : {'\0', '\x04', '\xff'}) {
      auto other = good;
      other[1] = number;
      EXPECT_EQ(rate_bytes_refusal(other), "the stored rate limit has an unknown algorithm");
    }
  }
}

TEST_F(RateCodec, every_field_out_of_its_range_is_refused_with_the_reason) {
  const auto refused_with = [](const RateState& bad) {
    return rate_bytes_refusal(encoded_rate(bad));
  };
  const StoreTime far(Micros((std::int64_t{1} << 60U) + 1));
  constexpr auto out_of_range = "the stored rate limit has a time out of range";
  RateState good{.algorithm = RateAlgorithm::fixed_window, .expires = StoreTime(1s)};
  EXPECT_EQ(refused_with(good), "none");
  auto bad = good;
  bad.seen = far;
  EXPECT_EQ(refused_with(bad), out_of_range);
  bad = good;
  bad.expires = StoreTime{} - far.time_since_epoch();
  EXPECT_EQ(refused_with(bad), out_of_range);
  bad = good;
  bad.begin = far;
  EXPECT_EQ(refused_with(bad), out_of_range);
  bad = good;
  bad.ahead = -1us;
  EXPECT_EQ(refused_with(bad), "the stored rate limit has a duration out of range");
  bad = good;
  bad.count = UINT64_MAX;
  EXPECT_EQ(refused_with(bad), "the stored rate limit has counted more than it can");
  good.algorithm = RateAlgorithm::token_bucket;
  bad = good;
  bad.level = 1;
  EXPECT_EQ(refused_with(bad), "the stored rate limit has a bucket without units");
  bad.units = limits::max_bucket_units + 1;
  EXPECT_EQ(refused_with(bad), "the stored rate limit has a bucket that is too large");
  bad.units = 1;
  bad.level = limits::max_bucket_units + 1;
  EXPECT_EQ(refused_with(bad), "the stored rate limit has a bucket that is too large");
}

TEST_F(RateCodec, hits_must_be_some_in_order_and_not_in_the_future) {
  RateState some{.algorithm = RateAlgorithm::sliding_window, .seen = StoreTime(9s)};
  const auto refused_with = [&](std::vector<RateState::Hits> hits) {
    some.hits = std::move(hits);
    return rate_bytes_refusal(encoded_rate(some));
  };
  EXPECT_EQ(refused_with({{StoreTime(1s), 1}, {StoreTime(9s), 1}}), "none");
  EXPECT_EQ(refused_with({{StoreTime(2s), 1}, {StoreTime(1s), 1}}),
            "the stored rate limit has hits out of order");
  EXPECT_EQ(refused_with({{StoreTime(1s), 1}, {StoreTime(1s), 1}}),
            "the stored rate limit has hits out of order");
  EXPECT_EQ(refused_with({{StoreTime(1s), 0}}), "the stored rate limit has a hit that is none");
  EXPECT_EQ(refused_with({{StoreTime(10s), 1}}),
            "the stored rate limit has hits that come after its last step");
  std::vector<RateState::Hits> most;
  for (std::size_t i = 0; i < limits::max_rate_hits; ++i) most.push_back({StoreTime(Micros(i)), 1});
  EXPECT_EQ(refused_with(most), "none");
  auto bytes = encoded_rate(some) + std::string(12, '\1');
  bytes[26] = '\1';  // 2049 of them
  EXPECT_EQ(rate_bytes_refusal(bytes), "the stored rate limit has too many hits");
  EXPECT_EQ(rate_bytes_refusal(encoded_rate({}).substr(0, 26) + "\x01"
                                                                "\x01"),
            "the stored rate limit announces more hits than it has bytes for");
}

// Whatever a broken disk makes of a state, it is refused, or it is one that can be counted with.
TEST_F(RateCodec, hostile_bytes_are_refused_or_mean_one_state) {
  test::Random random;
  for (const auto algorithm : algorithms) {
    for (int i = 0; i < 3000; ++i) {
      auto bytes = encoded_rate(some_rate(random, algorithm));
      for (auto left = 1 + random.below(4); left > 0; --left) {
        bytes[random.below(bytes.size())] = static_cast<char>(random.bits());
      }
      auto read = decode_rate(bytes);
      if (!read) continue;
      ASSERT_EQ(encoded_rate(*read), bytes);
      const auto outcome =
          step(*read, {Verb::check, {.algorithm = algorithm, .limit = 9, .window = 1s}}, now);
      ASSERT_LE(outcome.remaining, 9U);
    }
  }
}

}  // namespace
}  // namespace holdfast::model
