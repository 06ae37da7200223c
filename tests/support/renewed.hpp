// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/lease.hpp>

#include "support/timing.hpp"

#include <chrono>

namespace holdfast::test {

// Whether the lease is renewed in the background, and so often. Give it a long ttl, so that it
// cannot end while a busy machine does something else, and a short `renew_every`.
inline bool gets_renewed(const Lease& lease, int times = 1) {
  const auto end = [&] { return std::chrono::steady_clock::now() + lease.remaining(); };
  for (int i = 0; i < times; ++i) {
    const auto before = end();
    if (!eventually([&] { return end() > before + std::chrono::milliseconds(5); })) return false;
  }
  return true;
}

}  // namespace holdfast::test
