// SPDX-License-Identifier: Apache-2.0
#include "runtime/random.hpp"

#include "runtime/fork.hpp"

#include <sys/random.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <span>
#include <utility>

namespace holdfast::runtime {

namespace {

constexpr std::size_t batch = 128;

struct Pool {
  std::array<std::uint64_t, batch> numbers{};
  std::size_t used = batch;
  std::uint32_t generation = 0;
};

void refill(Pool& pool) {
  std::span<std::byte> bytes = std::as_writable_bytes(std::span(pool.numbers));
  while (!bytes.empty()) {
    const ssize_t got = getrandom(bytes.data(), bytes.size(), 0);
    // Without randomness every owner could be guessed; there is no safe way to go on.
    if (got < 0 && errno != EINTR) std::abort();
    if (got > 0) bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
  pool.used = 0;
  pool.generation = fork_generation();
}

}  // namespace

std::uint64_t secure_random() {
  thread_local Pool pool;
  if (pool.used == batch || pool.generation != fork_generation()) refill(pool);
  return std::exchange(pool.numbers[pool.used++], 0);
}

}  // namespace holdfast::runtime
