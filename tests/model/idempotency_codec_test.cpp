// SPDX-License-Identifier: Apache-2.0
#include "run_fixture.hpp"
#include "support/random_text.hpp"

namespace holdfast::model {
namespace {

using Status = RunState::Status;

std::string encoded_run(const RunState& state) {
  std::string bytes = "left over";
  encode(state, bytes);
  return bytes;
}

std::string run_bytes_refusal(const std::string& bytes) {
  const auto state = decode_run(bytes);
  if (state) return "none";
  EXPECT_EQ(state.error().code, Errc::unavailable);
  return state.error().message;
}

void expect_run_round_trip(const RunState& state) {
  const auto bytes = encoded_run(state);
  const auto again = decode_run(bytes);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, state);
  EXPECT_EQ(encoded_run(*again), bytes);
}

RunState some_run(Random& random) {
  const auto time = [&] { return StoreTime(Micros(random.bits() >> 5U)); };
  const auto guarded_until = time();
  return {.status = static_cast<Status>(1 + random.below(3)),
          .took_over = random.one_in(2),
          .owner = "o" + random.bytes(max_owner_bytes - 1),
          .fingerprint = random.bytes(max_fingerprint_bytes),
          .fence = random.bits(),
          .guard = time().time_since_epoch(),
          .guarded_until = guarded_until,
          .expires = guarded_until + Micros(random.bits() >> 6U),
          .answer = {.status = static_cast<std::uint16_t>(100 + random.below(500)),
                     .headers = random.bytes(300),
                     .body = random.bytes(random.one_in(20) ? 100'000 : 300)},
          .failure = random.bytes(max_failure_bytes)};
}

TEST(RunCodec, a_state_survives_the_round_trip) {
  Random random;
  for (int i = 0; i < 500; ++i) expect_run_round_trip(some_run(random));
}

TEST(RunCodec, the_longest_of_everything_survives_it) {
  expect_run_round_trip({.status = Status::completed,
                         .owner = std::string(max_owner_bytes, 'o'),
                         .fingerprint = std::string(max_fingerprint_bytes, 'f'),
                         .answer = {.headers = std::string(max_answer_header_bytes, 'h'),
                                    .body = std::string(max_answer_bytes, '\0')},
                         .failure = std::string(max_failure_bytes, 'w')});
}

TEST(RunCodec, the_bytes_are_as_the_document_says) {
  using namespace std::string_literals;
  const RunState state{.status = Status::completed,
                       .took_over = true,
                       .owner = "ann",
                       .fingerprint = "f",
                       .fence = 2,
                       .guard = 3us,
                       .guarded_until = StoreTime(4us),
                       .expires = StoreTime(5us),
                       .answer = {.status = 0x101, .headers = "{}", .body = "\xff"},
                       .failure = "w"};
  EXPECT_EQ(encoded_run(state),
            "\1\2\1\1\1"s + "\2\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0\4\0\0\0\0\0\0\0\5\0\0\0\0\0\0\0"s +
                "\3\0ann\1\0f\2\0{}\1\0w\1\0\0\0\xff"s);
}

TEST(RunCodec, bytes_that_are_cut_or_longer_are_refused) {
  Random random;
  auto some = some_run(random);
  some.answer.body = "body";
  const auto good = encoded_run(some);
  EXPECT_EQ(run_bytes_refusal(""), "the stored run is cut short");
  for (std::size_t size = 1; size < good.size(); ++size) {
    EXPECT_NE(run_bytes_refusal(good.substr(0, size)), "none") << size;
  }
  EXPECT_EQ(run_bytes_refusal(good + "x"), "the stored run has bytes after its end");
  EXPECT_EQ(run_bytes_refusal(good.substr(0, good.size() - 1)),
            "the stored run announces a longer result than it has bytes for");
  EXPECT_EQ(run_bytes_refusal('\0' + good.substr(1)), "the stored run has no valid format number");
  EXPECT_EQ(run_bytes_refusal("\x02" + good.substr(1)),
            "the stored run was written in a newer format than this version reads");
  for (const char number : {'\0', '\x04', '\xff'}) {
    auto other = good;
    other[1] = number;
    EXPECT_EQ(run_bytes_refusal(other), "the stored run has an unknown status");
  }
  auto other = good;
  other[2] = '\x02';
  EXPECT_EQ(run_bytes_refusal(other), "the stored run has a flag that is neither yes nor no");
}

TEST(RunCodec, every_field_out_of_its_range_is_refused_with_the_reason) {
  const RunState good{.status = Status::running, .owner = "ann"};
  const auto refused_with = [&](auto change) {
    auto bad = good;
    change(bad);
    return run_bytes_refusal(encoded_run(bad));
  };
  constexpr Micros far((std::int64_t{1} << 60U) + 1);
  EXPECT_EQ(refused_with([](RunState&) {}), "none");
  for (const std::uint16_t status : {0, 99, 600}) {
    EXPECT_EQ(refused_with([&](RunState& s) { s.answer.status = status; }),
              "the stored run has a status out of range");
  }
  EXPECT_EQ(refused_with([&](RunState& s) { s.guarded_until = StoreTime(far); }),
            "the stored run has a time out of range");
  EXPECT_EQ(refused_with([&](RunState& s) { s.expires = StoreTime(-far); }),
            "the stored run has a time out of range");
  EXPECT_EQ(refused_with([](RunState& s) { s.guard = -1us; }),
            "the stored run has a duration out of range");
  EXPECT_EQ(refused_with([](RunState& s) { s.guarded_until = s.expires + 1us; }),
            "the stored run ends before its guard");
  EXPECT_EQ(refused_with([](RunState& s) { s.owner.clear(); }), "the stored run has no owner");
  EXPECT_EQ(refused_with([](RunState& s) { s.owner.assign(max_owner_bytes + 1, 'o'); }),
            "the stored run has an owner that is too long");
  EXPECT_EQ(refused_with([](RunState& s) { s.fingerprint.assign(max_fingerprint_bytes + 1, 'f'); }),
            "the stored run has a fingerprint that is too long");
  EXPECT_EQ(
      refused_with([](RunState& s) { s.answer.headers.assign(max_answer_header_bytes + 1, 'h'); }),
      "the stored run has headers that are too long");
  EXPECT_EQ(refused_with([](RunState& s) { s.failure.assign(max_failure_bytes + 1, 'w'); }),
            "the stored run has a failure that is too long");
  EXPECT_EQ(refused_with([](RunState& s) { s.answer.body.assign(max_answer_bytes + 1, 'b'); }),
            "the stored run has a result that is too long");
}

TEST(RunCodec, random_bytes_never_break_it) {
  Random random;
  for (int i = 0; i < 20'000; ++i) {
    auto bytes = random.bytes(80);
    if (!bytes.empty() && !random.one_in(10)) bytes[0] = '\1';
    const auto state = decode_run(bytes);
    if (state) {
      EXPECT_EQ(encoded_run(*state), bytes);
    }
  }
}

}  // namespace
}  // namespace holdfast::model
