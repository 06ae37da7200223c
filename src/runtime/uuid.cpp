// SPDX-License-Identifier: Apache-2.0
#include "runtime/uuid.hpp"

#include <fmt/format.h>

namespace holdfast::runtime {

// Four bits say which version, two which family.
std::string fresh_uuid(Runtime& runtime) {
  const auto high = (runtime.random() & ~0xf000ULL) | 0x4000ULL;
  const auto low = (runtime.random() & ~(3ULL << 62U)) | (2ULL << 62U);
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32U, high >> 16U & 0xffffU,
                     high & 0xffffU, low >> 48U, low & 0xffff'ffff'ffffULL);
}

}  // namespace holdfast::runtime
