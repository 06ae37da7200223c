// SPDX-License-Identifier: Apache-2.0
#include "run_fixture.hpp"

namespace holdfast::model {
namespace {

std::string run_refusal(const RunCommand& command) {
  const auto good = admissible(command);
  if (good) return "none";
  EXPECT_EQ(good.error().code, Errc::bad_input);
  return good.error().message;
}

template <typename Change>
std::string refusal_of(RunCommand command, Change change) {
  change(command);
  return run_refusal(command);
}

TEST(RunAdmission, what_is_good_is_admitted_up_to_its_limits) {
  EXPECT_EQ(run_refusal(begin_as(std::string(max_owner_bytes, 'o'),
                                 std::string(max_fingerprint_bytes, 'f'))),
            "none");
  for (const auto guard : {min_guard, max_guard}) {
    EXPECT_EQ(run_refusal(renew_as("ann", guard)), "none");
    EXPECT_EQ(refusal_of(begin_as("ann"), [&](RunCommand& c) { c.guard = guard; }), "none");
  }
  for (const auto keep : {min_answer_ttl, max_answer_ttl}) {
    EXPECT_EQ(refusal_of(begin_as("ann"), [&](RunCommand& c) { c.keep = keep; }), "none");
    EXPECT_EQ(refusal_of(complete_as("ann"), [&](RunCommand& c) { c.keep = keep; }), "none");
  }
  for (const auto keep : {Micros(0us), Micros(1ms), Micros(max_answer_ttl)}) {
    EXPECT_EQ(run_refusal(fail_as("ann", std::string(max_failure_bytes, 'w'), keep)), "none");
  }
  EXPECT_EQ(run_refusal(complete_as("ann", {.status = 100,
                                            .headers = std::string(max_answer_header_bytes, 'h'),
                                            .body = std::string(max_answer_bytes, '\xff')})),
            "none");
  EXPECT_EQ(run_refusal(look_at_run()), "none");
  EXPECT_EQ(run_refusal(forget_run()), "none");
}

TEST(RunAdmission, whoever_has_a_run_has_a_name) {
  for (const auto& command :
       {begin_as(""), renew_as(""), complete_as(""), fail_as("", "why"), abandon_as(""),
        begin_as(std::string(max_owner_bytes + 1, 'o')), abandon_as("a\nb"), renew_as("\xff")}) {
    EXPECT_TRUE(run_refusal(command).starts_with("owner")) << run_refusal(command);
  }
}

TEST(RunAdmission, a_fingerprint_is_a_short_text) {
  for (const auto& command : {begin_as("ann", "\xff"), complete_as("ann", {}, "a\xc3")}) {
    EXPECT_EQ(run_refusal(command), "fingerprint: must be valid UTF-8");
  }
  const std::string longer(max_fingerprint_bytes + 1, 'f');
  for (const auto& command : {begin_as("ann", longer), complete_as("ann", {}, longer)}) {
    EXPECT_EQ(run_refusal(command), "fingerprint: must be at most 256 bytes long; got 257");
  }
}

TEST(RunAdmission, a_guard_is_neither_too_short_nor_too_long_nor_between_two_milliseconds) {
  constexpr Micros bad[] = {Micros::min(),   -1ms,         0us, min_guard - 1ms, min_guard + 1us,
                            max_guard + 1ms, Micros::max()};
  for (const auto guard : bad) {
    const auto rule = fmt::format(
        "guard: must be 100 to 86400000 ms, in whole milliseconds; got {} us", guard.count());
    EXPECT_EQ(run_refusal(renew_as("ann", guard)), rule);
    EXPECT_EQ(refusal_of(begin_as("ann"), [&](RunCommand& c) { c.guard = guard; }), rule);
  }
}

TEST(RunAdmission, an_answer_is_kept_for_a_second_to_31_days) {
  constexpr Micros bad[] = {
      Micros::min(),        -1s,          0us, min_answer_ttl - 1ms, min_answer_ttl + 1us,
      max_answer_ttl + 1ms, Micros::max()};
  for (const auto keep : bad) {
    const auto rule = fmt::format(
        "ttl: must be 1000 to 2678400000 ms, in whole milliseconds; got {} us", keep.count());
    EXPECT_EQ(refusal_of(begin_as("ann"), [&](RunCommand& c) { c.keep = keep; }), rule);
    EXPECT_EQ(refusal_of(complete_as("ann"), [&](RunCommand& c) { c.keep = keep; }), rule);
  }
}

TEST(RunAdmission, a_failure_is_told_for_0_to_31_days) {
  constexpr Micros bad[] = {Micros::min(), -1ms, 1us, max_answer_ttl + 1ms, Micros::max()};
  for (const auto keep : bad) {
    EXPECT_EQ(
        run_refusal(fail_as("ann", "why", keep)),
        fmt::format("keep_failure: must be 0 to 2678400000 ms, in whole milliseconds; got {} us",
                    keep.count()));
  }
  EXPECT_EQ(run_refusal(fail_as("ann", std::string(max_failure_bytes + 1, 'w'))),
            "error: must be at most 1024 bytes long; got 1025");
  EXPECT_EQ(run_refusal(fail_as("ann", "\xed\xa0\x80")), "error: must be valid UTF-8");
}

TEST(RunAdmission, an_answer_has_a_status_and_its_parts_are_not_too_long) {
  for (const std::uint16_t status : {0, 99, 600, 65535}) {
    EXPECT_EQ(run_refusal(complete_as("ann", {.status = status})),
              fmt::format("status: must be 100 to 599; got {}", status));
  }
  EXPECT_EQ(
      run_refusal(complete_as("ann", {.headers = std::string(max_answer_header_bytes + 1, 'h')})),
      "headers: must be at most 16384 bytes long; got 16385");
  EXPECT_EQ(run_refusal(complete_as("ann", {.headers = "\xff"})), "headers: must be valid UTF-8");
  EXPECT_EQ(run_refusal(complete_as("ann", {.body = std::string(max_answer_bytes + 1, 'b')})),
            "result: must be at most 262144 bytes long; got 262145");
}

}  // namespace
}  // namespace holdfast::model
