// SPDX-License-Identifier: Apache-2.0
//
// One runtime for all tests of this program, ended by the main thread: one that ends on its own
// thread may still be at it when the process ends, and looks like a leak then.
#include "runtime/runtime.hpp"
#include "talk.hpp"

#include <gtest/gtest.h>

namespace holdfast::test {
namespace {

class OneRuntime : public testing::Environment {
 public:
  void SetUp() override { runtime_ = runtime::shared_runtime(); }
  void TearDown() override {
    EXPECT_TRUE(eventually([this] { return runtime_.use_count() == 1; }));
    runtime_.reset();
  }

 private:
  std::shared_ptr<runtime::Runtime> runtime_;
};

[[maybe_unused]] const auto* const registered = testing::AddGlobalTestEnvironment(new OneRuntime);

}  // namespace
}  // namespace holdfast::test
