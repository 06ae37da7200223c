// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/endpoints/patterns/members.hpp"

namespace holdfast::server::patterns {

using Replies = std::vector<Result<store::Reply>>;

// The same command to every member at the same time, answered when the last one has answered or
// `timeout` has passed. A reply for each member; who said nothing has `unavailable` or
// `outcome_unknown`.
Task<Replies> ask_all(Members::Cores members, LockName name, model::LockCommand command,
                      Micros timeout);

}  // namespace holdfast::server::patterns
