// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/view.hpp>

#include <memory>

namespace holdfast::runtime {

// What this process tells of itself to whoever looks at its locks.
std::shared_ptr<const ProcessInfo> this_process();

}  // namespace holdfast::runtime
