// SPDX-License-Identifier: Apache-2.0
//
// C9 and C10.
#include "history/broken.hpp"

namespace holdfast::history::test {
namespace {

constexpr Rule loss = Rule::loss_told_in_time;
constexpr Rule service = Rule::everybody_served;

const std::vector<Edit> never_served{{"120 held b", ""}, {"125 granted b", ""}, {"216 lost b", ""}};

INSTANTIATE_TEST_SUITE_P(
    Loss, BrokenHistory,
    testing::ValuesIn(std::vector<Break>{
        {"is_told_a_millisecond_late", told_only, {{"127 lost a", "128 lost a"}}, loss},
        {"is_never_told", told_only, {{"127 lost a", ""}}, loss},
        {"is_told_after_the_process_woke_up", stopped, {{"140 lost a", "141 lost a"}}, loss},
        {"is_told_after_the_first_of_two_stops",
         stopped,
         {{"110 stopped", "121 stopped process=p1 until=140"}},
         loss},
        {"is_not_excused_by_the_stop_of_another_process",
         stopped,
         {{"50 stopped", "50 stopped process=p9 until=120"},
          {"110 stopped", "110 stopped process=p9 until=140"}},
         loss},
        {"is_not_excused_by_a_stop_after_the_end",
         stopped,
         {{"50 stopped", "98 stopped process=p1 until=120"}},
         loss},
        {"is_not_excused_by_being_unreachable",
         calm,
         {{"97 lost a", "99 lost a"}, {"", "60 unreachable process=p1 until=99"}},
         loss},
        {"is_told_late_in_quiet_times", calm, {{"216 lost b", "217 lost b"}}, loss},
        {"is_not_told_to_a_holder_that_forgot_to_release",
         hand_over,
         {{"70 releasing c", ""}, {"71 freed c", ""}, {"72 released c", ""}},
         loss},
        {"is_not_told_to_a_reader",
         upgrade,
         {{"60 releasing t", ""}, {"61 freed t", ""}, {"62 released t", ""}},
         loss},
        {"is_not_told_and_then_the_lease_is_renewed",
         told_only,
         {{"127 lost a", "150 lost a"}, {"", "140 renewed a since=120 until=150"}},
         loss},
    }),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Loss, ExcusedHistory,
    testing::ValuesIn(std::vector<Break>{
        {"of_a_process_that_was_stopped", stopped, {}, loss},
        {"of_a_process_that_crashed",
         stopped,
         {{"140 lost a", ""}, {"110 stopped", "110 stopped process=p1 until=never"}},
         loss},
        {"after_the_end_of_the_history",
         line,
         {{"70 releasing c", ""}, {"72 released c", ""}, {"5000 ended", "157 ended"}},
         loss},
        {"of_a_process_that_wakes_up_after_the_end_of_the_history",
         stopped,
         {{"140 lost a", ""}, {"110 stopped", "110 stopped process=p1 until=6000"}},
         loss},
        {"of_a_lease_that_was_let_go_in_time",
         told_only,
         {{"127 lost a", "127 releasing a"}, {"210 releasing a", ""}},
         loss},
    }),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Service, BrokenHistory,
    testing::ValuesIn(std::vector<Break>{
        {"never_comes", calm, never_served, service},
        {"ends_with_an_error_before_the_caller_gives_up", calm,
         both(never_served, {{"", "400 failed b detail=unavailable"}}), service},
        {"comes_a_millisecond_late",
         calm,
         {{"120 held b", ""},
          {"125 granted b", "451 granted b fence=11 until=540"},
          {"216 lost b", "540 lost b"}},
         service},
        {"comes_too_late_without_extra_patience",
         calm,
         {{"100 calm", "100 calm"},
          {"120 held b", ""},
          {"125 granted b", "420 granted b fence=11 until=510"},
          {"216 lost b", "510 lost b"}},
         service},
        {"ends_late_with_an_error", calm,
         both(never_served, {{"", "460 failed b detail=unavailable"}}), service},
        {"times_out_though_the_caller_would_wait",
         calm,
         {{"8 asked c", "8 asked c fifo waits process=p3"},
          {"350 failed c", "451 failed c detail=timed_out"}},
         service},
        {"forgets_one_whose_process_lives", calm, {{"30 stopped", ""}}, service},
        {"forgets_one_whose_process_was_stopped_for_a_while",
         calm,
         {{"30 stopped", "30 stopped process=p4 until=90"}},
         service},
        {"forgets_one_that_comes_later", calm, {{"", "1000 asked e waits process=p5"}}, service},
    }),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Service, ExcusedHistory,
    testing::ValuesIn(std::vector<Break>{
        {"while_faults_go_on", calm, both(never_served, {{"100 calm", ""}}), service},
        {"when_the_history_ends_too_early", calm, both(never_served, {{"5000 ended", "449 ended"}}),
         service},
        {"of_one_that_does_not_wait", calm,
         both(never_served, {{"5 asked b", "5 asked b fifo process=p2"}}), service},
        {"of_one_whose_process_crashed", calm,
         both(never_served, {{"", "20 stopped process=p2 until=never"}}), service},
        {"of_one_whose_process_does_not_wake_up", calm,
         both(never_served, {{"", "95 stopped process=p2 until=4900"}}), service},
        {"of_one_that_gave_up_in_time_and_heard_of_it_late",
         calm,
         {{"350 failed c", "460 failed c detail=timed_out"}},
         service},
        {"cancelled_in_time", calm, both(never_served, {{"", "400 failed b detail=cancelled"}}),
         service},
        {"counted_from_the_last_calm",
         calm,
         {{"", "400 calm"},
          {"120 held b", ""},
          {"125 granted b", "600 granted b fence=11 until=690"},
          {"216 lost b", "690 lost b"}},
         service},
    }),
    name_of);

}  // namespace
}  // namespace holdfast::history::test
