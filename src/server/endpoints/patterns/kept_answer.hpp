// SPDX-License-Identifier: Apache-2.0
//
// From an answer to what is kept of it, and back.
#pragma once

#include <holdfast/runs.hpp>

#include "net/http/message.hpp"

namespace holdfast::server::patterns {

// Status, headers and body. Of an answer that is too long to be kept, the status and a sentence
// that says so: that it happened is what must not be forgotten.
Answer keep(const net::http::Response& response);

// The same again, marked by the header Idempotency-Replayed.
net::http::Response replay(const Answer& kept);

}  // namespace holdfast::server::patterns
