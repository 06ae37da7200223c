// SPDX-License-Identifier: Apache-2.0
#include "n8n/scope.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace holdfast::test {
namespace {

TEST(Scope, is_normalised) {
  struct Case {
    std::string written;
    std::string text;
    std::optional<std::string> fixed;
    bool has_remark;
  };
  const std::vector<Case> cases{
      {"={{ $execution.id }}", "={{ $execution.id }}", {}, false},
      {"={{ 'excel-' + $json.fileId }}", "={{ 'excel-' + $json.fileId }}", {}, false},
      {"=api-v1-{{ $json.userId }}", "=api-v1-{{ $json.userId }}", {}, false},
      {"={{ $json.a }}-{{ $json.b }}", "={{ $json.a }}-{{ $json.b }}", {}, false},
      {"={{ 'global' }}", "={{ 'global' }}", "global", false},
      {"={{\"global\"}}", "={{\"global\"}}", "global", false},
      {"={{ `global` }}", "={{ `global` }}", "global", false},
      {"={{ `a-${ $json.b }` }}", "={{ `a-${ $json.b }` }}", {}, false},
      {"={{ 'a' + 'b' }}", "={{ 'a' + 'b' }}", {}, false},
      {"={{ 'it\\'s' }}", "={{ 'it\\'s' }}", "it's", false},
      {"={{ 'a\\x41' }}", "={{ 'a\\x41' }}", {}, false},
      {"='user-' + $json.id", "={{ 'user-' + $json.id }}", {}, true},
      {"='user'", "={{ 'user' }}", "user", true},
      {"orders", "={{ \"orders\" }}", "orders", true},
      {"  orders  ", "={{ \"orders\" }}", "orders", true},
      {"it's \"x\"", "={{ \"it's \\\"x\\\"\" }}", "it's \"x\"", true},
      {"back\\slash", "={{ \"back\\\\slash\" }}", "back\\slash", true},
      {"ünï", "={{ \"ünï\" }}", "ünï", true},
      {"api-{{ $json.id }}", "=api-{{ $json.id }}", {}, true},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.written);
    const auto scope = n8n::normalise_scope(each.written);
    ASSERT_TRUE(scope) << scope.error().message;
    EXPECT_EQ(scope->text, each.text);
    EXPECT_EQ(scope->fixed, each.fixed);
    EXPECT_EQ(scope->remark.has_value(), each.has_remark);
    // What was written once is not touched again.
    const auto again = n8n::normalise_scope(scope->text);
    ASSERT_TRUE(again);
    EXPECT_EQ(again->text, scope->text);
    EXPECT_FALSE(again->remark);
  }
}

TEST(Scope, that_cannot_be_one_is_refused_with_the_rule) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "non-empty"},
      {" \t\n", "non-empty"},
      {"=", "non-empty"},
      {"={{ }}", "non-empty"},
      {"={{}}", "non-empty"},
      {"={{ '' }}", "non-empty"},
      {"x:meta", "ends in \":meta\""},
      {"={{ 'x:meta' }}", "ends in \":meta\""},
      {"='x:meta'", "ends in \":meta\""},
      {"a}}b", "braces"},
      {"={{ $json.a", "braces"},
      {"={{ {{ x }} }}", "braces"},
      {"=}}{{", "braces"},
      {std::string("a\x01") + "b", "control character"},
      {std::string(401, 'x'), "max_fixed_scope_bytes"},
      {"={{ " + std::string(5000, 'x') + " }}", "max_expression_bytes"},
  };
  for (const auto& [written, says] : cases) {
    SCOPED_TRACE(written);
    const auto refused = n8n::normalise_scope(written);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::bad_input);
    EXPECT_NE(refused.error().message.find(says), std::string::npos) << refused.error().message;
  }
}

TEST(Scope, of_the_longest_size_is_taken) {
  EXPECT_TRUE(n8n::normalise_scope(std::string(400, 'x')));
}

}  // namespace
}  // namespace holdfast::test
