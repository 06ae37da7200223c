// SPDX-License-Identifier: Apache-2.0
#include "runtime/random.hpp"

#include "runtime/fork.hpp"

#include <sys/random.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <utility>

namespace holdfast::runtime {

namespace {

// getrandom() gives up to 256 bytes in one piece, whatever signals arrive.
constexpr std::size_t batch = 32;

struct Pool {
  std::array<std::uint64_t, batch> numbers{};
  std::size_t used = batch;
  std::uint32_t generation = 0;
};

void refill(Pool& pool) {
  ssize_t got = 0;
  do {
    got = getrandom(pool.numbers.data(), sizeof(pool.numbers), 0);
  } while (got < 0 && errno == EINTR);
  // Without randomness every owner could be guessed; there is no safe way to go on.
  if (got != static_cast<ssize_t>(sizeof(pool.numbers))) std::abort();
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
