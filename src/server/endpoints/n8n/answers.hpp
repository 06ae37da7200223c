// SPDX-License-Identifier: Apache-2.0
//
// Answers as n8n's workflows expect them. An error is a problem (RFC 9457) that has the words of
// the original in `message` too, for a workflow that stops with them.
#pragma once

#include "recipes/n8n.hpp"
#include "recipes/n8n_json.hpp"
#include "server/http/answer.hpp"
#include "server/journal.hpp"
#include "server/services.hpp"

namespace holdfast::server::n8n {

namespace recipe = holdfast::n8n;

// Longer than any limit of a text, so that the recipe names the one that was broken.
inline constexpr std::size_t max_text_bytes = 4096;

// 423 held, 408 timed out, 409 LOGIC ERROR, everything else by its own status.
Response refused(const Error& why);
Response forbidden();

// In the audit trail, and as an event where the locks are in the store that is observed.
void write_down(Services& services, const Who& who, const Happening& happening);

}  // namespace holdfast::server::n8n
