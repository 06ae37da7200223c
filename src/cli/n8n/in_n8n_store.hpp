// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/client.hpp>

#include "cli/context.hpp"

namespace holdfast::cli {

// The store in force with n8n's keys, where it shares keys.
Result<Client> open_n8n_store(Context& context);

}  // namespace holdfast::cli
