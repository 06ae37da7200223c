// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/runtime.hpp"

#include <string>

namespace holdfast::runtime {

// Version 4: "550e8400-e29b-41d4-a716-446655440000".
std::string fresh_uuid(Runtime& runtime);

}  // namespace holdfast::runtime
