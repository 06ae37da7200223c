// SPDX-License-Identifier: Apache-2.0
#include "runtime/fork.hpp"

#include <pthread.h>

#include <atomic>

namespace holdfast::runtime {

namespace {

std::atomic<std::uint32_t> generation{0};

void count_fork() noexcept { generation.fetch_add(1, std::memory_order_relaxed); }

[[maybe_unused]] const int registered = pthread_atfork(nullptr, nullptr, &count_fork);

}  // namespace

std::uint32_t fork_generation() noexcept { return generation.load(std::memory_order_relaxed); }

}  // namespace holdfast::runtime
