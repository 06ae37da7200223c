// SPDX-License-Identifier: Apache-2.0
//
// What the library promises its users, on every store.
#pragma once

#include <holdfast/holdfast.hpp>

#include "stores.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <stdexcept>
#include <thread>

namespace holdfast::test {

using namespace std::chrono_literals;

class ClientContract : public testing::TestWithParam<StoreUnderTest> {
 protected:
  // A client with a connection of its own, as another process would have.
  Client open_again();
  std::shared_ptr<store::Store> open_store();
  // What the store says against it; empty if it can do that.
  std::string why_not(const model::LockSpec& wanted);
  // Where each question needs a request of its own there is no place in which an upgrade could wait
  // before all others: it is had at once, or busy.
  bool upgrades_wait() { return !open_store()->capabilities().spends_requests; }

  // Waits until it is so, or fails after a time that only something broken takes.
  static bool becomes_true(const std::function<bool()>& condition);
  static void let_pass(Duration time) { std::this_thread::sleep_for(time); }
  static std::chrono::steady_clock::time_point now() { return std::chrono::steady_clock::now(); }

  TemporaryFolder folder;
  Client client = open_again();
};

// For ASSERT_TRUE(is_ok(result)): says why it is not.
template <typename T>
testing::AssertionResult is_ok(const Result<T>& result) {
  if (result) return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << to_string(result.error().code) << ": " << result.error().message;
}

// The result, which has to be a value: whatever depends on it would make no sense without.
template <typename T>
Result<T> ok(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return result;
}

template <typename T>
std::string_view code_of(const Result<T>& result) {
  return result ? "ok" : to_string(result.error().code);
}

}  // namespace holdfast::test
