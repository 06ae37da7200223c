// SPDX-License-Identifier: Apache-2.0
//
// What the library promises its users, on every store.
#pragma once

#include <holdfast/holdfast.hpp>

#include "stores.hpp"
#include "support/renewed.hpp"
#include "support/temporary_folder.hpp"
#include "support/timing.hpp"

#include <gtest/gtest.h>

#include <chrono>
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

  // For moments that are chosen at random, and for what cannot be seen. What can be seen is polled
  // for, with `eventually`.
  static void let_pass(Duration time) { std::this_thread::sleep_for(time); }
  static std::chrono::steady_clock::time_point now() { return std::chrono::steady_clock::now(); }
  bool has_waiter(std::string_view name = "orders:42") {
    return eventually([&] { return client.inspect(name)->waiters.size() == 1; });
  }
  // Once what is held has ended. A store may round a lease up to its next millisecond, which a look
  // does not show.
  bool becomes_free(std::string_view name = "orders:42") {
    const bool is_free = eventually([&] { return client.inspect(name)->holders.empty(); });
    let_pass(2ms);
    return is_free;
  }

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

template <typename T>
std::string_view code_of(const Result<T>& result) {
  return result ? "ok" : to_string(result.error().code);
}

// The code of a question with a short wait, which may be over before the first answer is here: then
// it is asked again.
template <typename Ask>
std::string_view code_in_the_end(Ask ask) {
  std::string_view code;
  eventually([&] { return (code = code_of(ask())) != "outcome_unknown"; });
  return code;
}

// The result, which has to be a value: whatever depends on it would make no sense without.
template <typename T>
Result<T> ok(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return result;
}

}  // namespace holdfast::test
