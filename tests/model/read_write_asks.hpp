// SPDX-License-Identifier: Apache-2.0
//
// Who asks for a read-write lock.
#pragma once

#include "support/ask.hpp"

#include <string_view>

namespace holdfast::test {

inline Ask reader(std::string_view owner, bool wait = false) {
  return {.owner = owner, .permits = 1, .wait = wait};
}
inline Ask writer(std::string_view owner, bool wait = false) {
  return {.owner = owner, .permits = all_permits, .wait = wait};
}

}  // namespace holdfast::test
