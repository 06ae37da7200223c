// SPDX-License-Identifier: Apache-2.0
//
// Clients of one memory store on one thread, with a hand-moved clock and a bad line to each of
// them.
#pragma once

#include <holdfast/holdfast.hpp>

#include "client/core.hpp"
#include "client/held_lease.hpp"
#include "runtime/spawn.hpp"
#include "support/fault_store.hpp"
#include "support/hand_runtime.hpp"
#include "support/running.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <ostream>
#include <source_location>
#include <string_view>

namespace holdfast::test {

using namespace std::chrono_literals;
using runtime::LocalTime;

struct HandClient {
  HandClient(std::shared_ptr<FaultStore> its_line, std::shared_ptr<HandRuntime> its_runtime)
      : line(std::move(its_line)),
        core(client::make_core(line, its_runtime)),
        api(core),
        runtime(std::move(its_runtime)) {}

  // Starts to acquire a mutex; done at once if nothing is in the way and no fault is scripted.
  Running<Result<Lease>> acquire(std::string_view name, AcquireOptions options = {},
                                 std::stop_token stop = {}) const;
  // A mutex that has to be free.
  Lease take(std::string_view name, AcquireOptions options = {}) const;

  std::shared_ptr<FaultStore> line;
  std::shared_ptr<client::Core> core;
  Client api;
  std::shared_ptr<HandRuntime> runtime;
};

// A lease without the public class around it, whose calls would block on a store that is paused.
std::shared_ptr<client::HeldLease> hold(const HandClient& client, std::string_view name,
                                        model::LockSpec spec, std::uint32_t permits,
                                        client::Terms terms);
std::shared_ptr<client::HeldLease> hold(const HandClient& client, std::string_view name,
                                        client::Terms terms = {.ttl = 30s});
std::shared_ptr<client::HeldLease> hold_shared(const HandClient& client, std::string_view name,
                                               client::Terms terms = {.ttl = 30s});

class ClientTest : public testing::Test {
 public:
  // Ends with nothing left to do: no timer of a lease that is gone, nothing in the store.
  void TearDown() override;

  HandClient another_client() { return {store->another_line(), runtime}; }
  // What the store has, without using anybody's line.
  LockView seen(std::string_view name) const;
  std::size_t holders(std::string_view name) const { return seen(name).holders.size(); }
  std::size_t waiters(std::string_view name) const { return seen(name).waiters.size(); }
  bool is_free(std::string_view name) const { return holders(name) + waiters(name) == 0; }
  bool store_is_empty() const;

  void advance(std::chrono::nanoseconds time) { runtime->advance(time); }
  LocalTime now() const { return runtime->now(); }

  std::shared_ptr<HandRuntime> runtime = std::make_shared<HandRuntime>();
  std::shared_ptr<FaultStore> store = make_store(runtime);
  HandClient mine{store, runtime};
  HandClient other{store->another_line(), runtime};

 private:
  static std::shared_ptr<FaultStore> make_store(std::shared_ptr<HandRuntime> runtime);
};

}  // namespace holdfast::test
