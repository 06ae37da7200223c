// SPDX-License-Identifier: Apache-2.0
//
// C12.
#include "history/broken.hpp"

namespace holdfast::history::test {
namespace {

constexpr Rule untrue = Rule::untrue_answer;

// Nobody gives it back, and the next one waits for the end of the ttl.
const std::vector<Edit> left_behind{{"20 freed a", ""},
                                    {"30 asked b", ""},
                                    {"31 held b", ""},
                                    {"32 granted b", ""},
                                    {"40 releasing b", ""},
                                    {"41 freed b", ""},
                                    {"42 released b", ""}};

std::vector<Edit> left_and(const std::string& line) { return both(left_behind, {{"", line}}); }

INSTANTIATE_TEST_SUITE_P(
    UntrueAnswer, BrokenHistory,
    testing::ValuesIn(std::vector<Break>{
        {"of_a_lock_that_is_held_by_nobody", refused, left_behind, untrue},
        {"of_a_lock_that_was_given_back_before_it_was_given_again", refused,
         left_and("3 freed a by=a\n 4 held a fence=11 until=3004 since=0"), untrue},
        {"of_a_process_that_is_stopped_for_a_moment", refused,
         left_and("20 stopped process=p1 until=900"), untrue},
        {"of_a_process_behind_a_line_that_is_cut_for_a_moment", refused,
         left_and("20 unreachable process=p1 until=900"), untrue},
        {"of_a_process_beside_one_that_cannot_be_reached", refused,
         left_and("20 unreachable process=p2 until=3000"), untrue},
        {"of_a_process_beside_one_that_crashes", refused,
         left_and("15 asked x process=p7\n 16 stopped process=p7 until=never"), untrue},
        {"after_a_loss_of_data_long_before", refused, both(left_behind, {{"0 asked a", R"(
           0 data_lost
           0 asked a process=p1 ttl=3000)"}}), untrue},
    }),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    UntrueAnswer, ExcusedHistory,
    testing::ValuesIn(std::vector<Break>{
        {"where_it_is_not_known_what_happened", refused,
         both(left_behind, {{"10 failed a", "10 failed a detail=outcome_unknown"}}), untrue},
        {"where_the_lease_had_ended_before", refused, left_and("5 freed a by=a"), untrue},
        {"where_the_lease_was_given_later", refused,
         both(left_behind, {{"1 held a", "12 held a fence=10 until=3012 since=0"}}), untrue},
        {"of_a_process_that_crashes", refused, left_and("15 stopped process=p1 until=never"),
         untrue},
        {"of_a_process_that_is_stopped_for_long", refused,
         left_and("20 stopped process=p1 until=2000"), untrue},
        {"of_a_process_that_cannot_be_reached", refused,
         left_and("20 unreachable process=p1 until=2000"), untrue},
        {"of_a_store_that_cannot_be_reached", refused, left_and("20 unreachable until=2000"),
         untrue},
        {"after_a_loss_of_data", refused, left_and("5 data_lost"), untrue},
        {"after_a_clock_step", refused, left_and("5 clock_stepped step=1000"), untrue},
        {"where_an_operator_ended_it", refused, left_and("500 forced name=lock\n 500 freed a"),
         untrue},
        {"of_which_the_end_is_not_known", refused, both(left_behind, {{"5000 ended", "900 ended"}}),
         untrue},
    }),
    name_of);

}  // namespace
}  // namespace holdfast::history::test
