// SPDX-License-Identifier: Apache-2.0
//
// A rate in text is a number of hits, a slash and a time: "10/s", "100/5m", "1000/h", "5/100ms".
// The same on the command line, in JSON and in the configuration.
#pragma once

#include <holdfast/error.hpp>
#include <holdfast/options.hpp>
#include <holdfast/rates.hpp>

#include <boost/json/object.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::text {

struct Rate {
  std::uint32_t limit = 0;
  Duration window{};
};

// Errors: bad_input with the text and the rule; limit and window are in their ranges otherwise.
Result<Rate> parse_rate(std::string_view text);
// The shortest text that parse_rate reads back as the same; windows are whole milliseconds.
std::string format_rate(const RateRule& rule);

// What may be said about a rule besides its rate.
struct RuleWords {
  // Empty: token_bucket if there is a burst, fixed_window in another program's layout, and
  // sliding_window otherwise.
  std::string_view algorithm{};
  std::string_view layout{};  // empty: native
  std::uint32_t burst = 0;    // 0: none was given
};

// A rule that every store would take. Errors: bad_input, naming the field.
Result<RateRule> make_rule(const Rate& rate, const RuleWords& words);

// {"scope", "allowed", "count", "limit", "remaining", "retry_after_ms", "reset_ms"}; times are
// rounded up, so that whoever comes back then is not too early.
boost::json::object to_json(std::string_view scope, const RateOutcome& outcome);

}  // namespace holdfast::text
