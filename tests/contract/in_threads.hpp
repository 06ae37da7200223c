// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <thread>
#include <vector>

namespace holdfast::test {

inline constexpr int threads = 4;

// Runs `work` with the number of its thread in each of them, and returns when all are done.
template <typename Work>
void in_threads(Work work) {
  std::vector<std::jthread> running;
  for (int i = 0; i < threads; ++i) running.emplace_back([work, i] { work(i); });
}

}  // namespace holdfast::test
