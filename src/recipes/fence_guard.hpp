// SPDX-License-Identifier: Apache-2.0
//
// Asking a store whether a fence is too old.
#pragma once

#include <holdfast/fence_guard.hpp>

#include "client/core.hpp"
#include "model/fence_guard.hpp"

namespace holdfast::recipes {

struct FenceQuestion {
  LockName resource;
  model::GuardCommand command;
};

// Errors: bad_input, naming the field and the rule.
Result<FenceQuestion> make_fence_question(std::string_view resource, Fence fence, Duration keep);

// One step. Done at once on a store that answers at once.
Task<Result<FenceCheck>> ask_fence(const client::Core& core, FenceQuestion question,
                                   std::stop_token stop);

}  // namespace holdfast::recipes
