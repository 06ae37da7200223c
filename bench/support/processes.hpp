// SPDX-License-Identifier: Apache-2.0
//
// Benchmarks of several processes: they are forked before any store is opened, share a struct, and
// never outlive the one that started them.
#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

namespace holdfast::bench {

// CLOCK_MONOTONIC, the same in every process.
std::int64_t monotonic_ns();

// Those this process may run on; at least one.
std::vector<int> allowed_cores();
// The calling thread, and all threads that it starts from now on.
void pin_to_core(int core);

[[noreturn]] void give_up_without_memory();

// A T that children forked later see as well.
template <typename T>
class Shared {
  static_assert(std::is_trivially_destructible_v<T>);

 public:
  Shared() {
    void* memory =
        mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) give_up_without_memory();
    value_ = new (memory) T{};
  }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  ~Shared() { munmap(value_, sizeof(T)); }

  T& operator*() const { return *value_; }
  T* operator->() const { return value_; }

 private:
  T* value_;
};

// Children that each run `work(index)` once. The process that starts them must have no threads.
class Children {
 public:
  Children(std::size_t count, const std::function<void(std::size_t)>& work);
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;
  // Kills those that are left.
  ~Children();

  // Until all have ended; ends the program if one of them failed.
  void wait();

 private:
  std::vector<int> pids_;
};

}  // namespace holdfast::bench
