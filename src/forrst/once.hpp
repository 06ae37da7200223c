// SPDX-License-Identifier: Apache-2.0
//
// The idempotency extension: an answer as it is kept, and what a caller is told who does not get to
// run.
#pragma once

#include "forrst/host.hpp"
#include "forrst/turn.hpp"
#include "recipes/idempotency.hpp"

#include <optional>

namespace holdfast::forrst {

// What a function that did not answer well has done.
enum class Effect : std::uint8_t {
  none,     // nothing, for sure
  done,     // what it does: its answer, an error too, is the answer
  unknown,  // perhaps
};
Effect effect_of(const Outcome& outcome);

// The key belongs to the caller, the function and its version: of anybody else it is another key.
Result<LockName> record_name(const Turn& turn);
// What functions are told of the key: the same for a repeated request, another for another caller.
std::string key_for_functions(const LockName& record);
// Errors: bad_input.
Result<recipes::RunTerms> terms_of(client::Core& core, const Turn& turn);

// The last word of a run.
model::RunCommand last_word(const recipes::RunTerms& terms, const Turn& turn, Effect effect,
                            const Answered& answered);
// The answer to a call that is not run.
Answered instead_of_running(const Turn& turn, const model::RunOutcome& outcome);
// {key, status, …} of one that was.
boost::json::object processed(const Turn& turn);

}  // namespace holdfast::forrst
