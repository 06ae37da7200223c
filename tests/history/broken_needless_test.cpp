// SPDX-License-Identifier: Apache-2.0
//
// C11.
#include "history/broken.hpp"

namespace holdfast::history::test {
namespace {

constexpr Rule needless = Rule::needless_loss;

// The last answer was asked for at 66 ms and is good until 163 ms: a third of that is 32 ms.
const std::vector<Edit> lost_at_its_end{{"80 releasing a", "163 lost a"}, {"82 released a", ""}};
const std::vector<Edit> lost_early{{"80 releasing a", "90 lost a"}, {"82 released a", ""}};
// The claim is good until 546 ms.
const std::vector<Edit> claim_lost{{"61 renewing b", ""},
                                   {"62 renewed b", ""},
                                   {"70 stopped", ""},
                                   {"950 releasing b", "546 lost b"},
                                   {"952 released b", ""}};

std::vector<Edit> lost_and(const std::string& line) { return both(lost_at_its_end, {{"", line}}); }
std::vector<Edit> claim_lost_and(const std::string& line) { return both(claim_lost, {{"", line}}); }

INSTANTIATE_TEST_SUITE_P(
    NeedlessLoss, BrokenHistory,
    testing::ValuesIn(std::vector<Break>{
        {"without_any_fault", kept, lost_at_its_end, needless},
        {"long_before_its_end", kept, lost_early, needless},
        {"after_a_stop_of_less_than_a_third", kept, lost_and("100 stopped process=p1 until=132"),
         needless},
        {"after_a_stop_of_another_process", kept, lost_and("70 stopped process=p2 until=160"),
         needless},
        {"behind_a_slow_line_that_is_not_that_slow", kept,
         lost_and("100 unreachable process=p1 until=130 delays"), needless},
        {"after_a_stall_of_the_store_of_less_than_a_third", kept,
         lost_and("98 renewing a\n 99 stopped until=130"), needless},
        {"after_an_outage_between_two_renewals", kept,
         lost_and("110 unreachable process=p1 until=111"), needless},
        {"after_an_outage_of_another_process", kept,
         lost_and("98 renewing a\n 98 unreachable process=p2 until=163"), needless},
        {"after_a_loss_of_data_before_its_last_answer", kept, lost_and("65 data_lost"), needless},
        {"after_a_clock_step_before_its_last_answer", kept, lost_and("65 clock_stepped step=-1000"),
         needless},
        {"after_another_name_was_forced", kept,
         lost_and("69 asked x name=other process=p9\n 70 forced name=other"), needless},
        {"long_before_its_max_hold", kept,
         both(lost_at_its_end, {{"0 asked a", "0 asked a renews process=p1 max_hold=1000"}}),
         needless},
        {"of_a_claim_that_was_not_confirmed", handed, claim_lost, needless},
        {"of_a_claim_whose_process_stopped_after_it_could_confirm", handed,
         claim_lost_and("64 stopped process=p2 until=540"), needless},
        {"of_a_lease_of_seconds_that_was_stopped_for_less_than_one",
         handed,
         {{"61 renewing b", ""},
          {"62 renewed b", ""},
          {"950 releasing b", "900 lost b"},
          {"952 released b", ""}},
         needless},
    }),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    NeedlessLoss, ExcusedHistory,
    testing::ValuesIn(std::vector<Break>{
        {"of_a_process_that_was_stopped_for_more_than_a_third", kept,
         lost_and("100 stopped process=p1 until=133"), needless},
        {"of_a_process_that_was_stopped_again_and_again", kept,
         lost_and("100 stopped process=p1 until=120\n 130 stopped process=p1 until=143"), needless},
        {"of_a_process_that_was_stopped_behind_a_slow_line", kept,
         lost_and("100 stopped process=p1 until=120\n 120 unreachable until=140 delays"), needless},
        {"behind_a_line_that_is_too_slow", kept, lost_and("98 unreachable until=140 delays"),
         needless},
        {"after_a_long_stall_of_the_store", kept, lost_and("98 stopped until=140"), needless},
        {"of_a_lease_whose_renewal_met_an_outage", kept,
         lost_and("98 renewing a\n 110 unreachable process=p1 until=111"), needless},
        {"of_a_lease_whose_renewal_was_sent_in_an_outage", kept,
         lost_and("90 unreachable until=163\n 98 renewing a"), needless},
        {"where_renewals_are_not_written_down_and_there_was_an_outage", kept,
         both(lost_at_its_end, {{"33 renewing a", ""},
                                {"66 renewing a", ""},
                                {"", "110 unreachable process=p1 until=111"}}),
         needless},
        {"after_a_loss_of_data", kept, lost_and("70 data_lost"), needless},
        {"after_a_clock_step", kept, lost_and("70 clock_stepped step=1000"), needless},
        {"after_a_forced_release", kept, lost_and("70 forced name=lock"), needless},
        {"after_a_foreign_delete", kept, lost_and("70 freed a"), needless},
        {"at_its_max_hold", kept,
         both(lost_at_its_end, {{"0 asked a", "0 asked a renews process=p1 max_hold=160"}}),
         needless},
        {"of_a_lease_that_is_not_renewed", kept,
         both(lost_at_its_end, {{"0 asked a", "0 asked a process=p1"}}), needless},
        {"that_is_told_after_it_was_let_go", kept, {{"82 released a", "163 lost a"}}, needless},
        {"of_a_claim_whose_process_stopped_before_it_could_confirm", handed,
         claim_lost_and("60 stopped process=p2 until=540"), needless},
        {"of_a_claim_behind_a_line_that_is_slower_than_the_claim", handed,
         claim_lost_and("60 unreachable process=p2 until=300 delays"), needless},
        {"of_a_claim_whose_confirmation_may_have_been_lost", handed,
         claim_lost_and("60 renewing b\n 61 unreachable process=p2 until=61"), needless},
    }),
    name_of);

}  // namespace
}  // namespace holdfast::history::test
