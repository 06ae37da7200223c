// SPDX-License-Identifier: Apache-2.0
#include "server/problem.hpp"

#include <boost/json/serialize.hpp>
#include <gtest/gtest.h>

namespace holdfast::server {
namespace {

TEST(Problem, says_what_docs_errors_says) {
  const auto problem = problem_of(Error{Errc::busy, "'orders' is held"});
  EXPECT_EQ(boost::json::serialize(to_json(problem)),
            R"({"type":"about:blank","title":"Conflict","status":409,"code":"busy",)"
            R"("detail":"'orders' is held"})");
}

}  // namespace
}  // namespace holdfast::server
