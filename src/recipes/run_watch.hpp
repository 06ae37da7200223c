// SPDX-License-Identifier: Apache-2.0
//
// What a client counts of its runs, and tells its tracer.
#pragma once

#include "client/core.hpp"
#include "recipes/idempotency.hpp"

namespace holdfast::recipes {

void count_beginning(client::Core& core, const Result<Beginning>& beginning);

// Ends the span of a begin that gave no run.
void tell_no_run(client::Span& span, const Result<Beginning>& beginning);
// Ends the span of a run by its last word and what came of it.
void tell_end(client::Span& span, model::RunCommand::Verb last_word, Fence fence,
              const Result<void>& result);

}  // namespace holdfast::recipes
