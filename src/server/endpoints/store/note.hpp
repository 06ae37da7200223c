// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/remote/protocol.hpp"
#include "server/http/call.hpp"

namespace holdfast::server::store_api {

// What follows from a step: the journal hears of it, and a waiter that waits no longer needs no
// ear.
void note(Services& services, const Who& who, const backends::remote::Question& question,
          const Result<store::Reply>& reply);

struct ForgetOrder {
  std::string stream;
  model::RequestId request{};
};
Result<ForgetOrder> parse_forget(const Call& call);

}  // namespace holdfast::server::store_api
