// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/error.hpp>

#include <string>
#include <string_view>

namespace holdfast::n8n {

// The environment file with the scope in its list `lockScopes`, which is made if there is none.
// Comments and everything else stay as they were, byte by byte; a file that has the scope already
// comes back unchanged. Errors: bad_input, also for a file in which the place cannot be found
// safely; the message then says what to write by hand.
Result<std::string> with_lock_scope(std::string_view yaml, std::string_view scope,
                                    std::string_view file_name);

}  // namespace holdfast::n8n
