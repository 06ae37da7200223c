// SPDX-License-Identifier: Apache-2.0
//
// What a call of /v1/idempotency asks for, from JSON.
#pragma once

#include "recipes/idempotency.hpp"
#include "server/http/call.hpp"

namespace holdfast::server {

struct BeginOrder {
  LockName name;
  recipes::RunTerms terms;
  Micros wait{};
};

// Errors: bad_input naming the field.
Result<BeginOrder> parse_begin(const Call& call);

// What the owner of a run says of it.
struct Word {
  LockName name;
  model::RunCommand command;
};

// Of renew, complete, fail and abandon. Errors: bad_input naming the field.
Result<Word> parse_word(const Call& call, model::RunCommand::Verb verb);

}  // namespace holdfast::server
