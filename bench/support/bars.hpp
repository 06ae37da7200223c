// SPDX-License-Identifier: Apache-2.0
//
// What every benchmark ends with. A bar is a promise with a number; it is reported as met ("ok") or
// not ("short") and never decides the exit code.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace holdfast::bench {

double median(std::vector<double> values);
// `share` from 0 to 1: 0.5 is the median, 0.99 the p99.
double percentile(std::vector<double> values, double share);

// A number without exponents, and without digits that the noise has eaten.
std::string readable(double number);

// A line for people: what was measured, in which unit, how far the repeats lie apart, and whatever
// else there is to say.
void print_row(std::string_view label, const std::vector<double>& repeats, std::string_view unit,
               std::string_view more = {});
void print_note(std::string_view text);

// The line for machines: `BAR <area>.<name> <measured> <op> <bound> ok|short`.
void bar_at_least(std::string_view name, double measured, double bound);
void bar_at_most(std::string_view name, double measured, double bound);

// Prints the sentence and ends the program: a benchmark that could not do its work has no result.
[[noreturn]] void give_up(std::string_view why);

}  // namespace holdfast::bench
