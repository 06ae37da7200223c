// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/context.hpp"
#include "cli/process/signals.hpp"

#include <string>

namespace holdfast::cli {

struct WatchOptions {
  std::string prefix;
  Duration every{};
};

// The full-screen view, until a key or a signal ends it. The signals were made before the client,
// so that no thread of its gets any.
Result<int> watch_live(Context& context, const Client& client, const WatchOptions& options,
                       const Signals& signals);

}  // namespace holdfast::cli
