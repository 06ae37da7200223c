// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/client.hpp>

#include <string>

namespace holdfast::cli {

// The owner that was given, or what HOLDFAST_OWNER says of that name. Errors: bad_input if there is
// neither.
Result<std::string> owner_in_force(const std::string& given, const std::string& name);

// The lease of that owner. The caller releases or detaches it. Errors as Client::adopt, never with
// the token.
Result<Lease> adopt(const Client& client, const std::string& name, const std::string& given_owner,
                    Fence fence = 0);

}  // namespace holdfast::cli
