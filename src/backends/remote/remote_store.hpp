// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/remote/options.hpp"
#include "store/store.hpp"

#include <memory>

namespace holdfast::backends::remote {

// The store of a Holdfast server. Asks the server who it is before it returns. Errors: unavailable
// (with the reason), unsupported (no Holdfast server, or one that speaks another protocol).
Result<std::shared_ptr<store::Store>> open_remote_store(Options options,
                                                        std::shared_ptr<runtime::Runtime> runtime);

}  // namespace holdfast::backends::remote
