// SPDX-License-Identifier: Apache-2.0
#include "n8n/lock_scopes.hpp"

#include "n8n/env.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace holdfast::test {
namespace {

TEST(LockScopes, are_added_without_touching_anything_else) {
  struct Case {
    std::string name;
    std::string before;
    std::string after;
  };
  const std::vector<Case> cases{
      {"an empty file", "", "lockScopes:\n  - \"x\"\n"},
      {"comments alone", "# ours\n", "# ours\nlockScopes:\n  - \"x\"\n"},
      {"no list yet", "# ours\na: 1  # one\n", "# ours\na: 1  # one\nlockScopes:\n  - \"x\"\n"},
      {"no end of the last line", "a: 1", "a: 1\nlockScopes:\n  - \"x\"\n"},
      {"a flow list", "lockScopes: [a, b]  # both\nz: 1\n",
       "lockScopes: [a, b, \"x\"]  # both\nz: 1\n"},
      {"an empty flow list", "lockScopes: []\n", "lockScopes: [\"x\"]\n"},
      {"a blank flow list", "lockScopes: [ ]\n", "lockScopes: [\"x\" ]\n"},
      {"a comma at the end", "lockScopes: [a, ]\n", "lockScopes: [a, \"x\" ]\n"},
      {"brackets in quotes", "lockScopes: ['a]', \"b\\\"]\", 'it''s']\n",
       "lockScopes: ['a]', \"b\\\"]\", 'it''s', \"x\"]\n"},
      {"a flow list of several lines", "lockScopes: [\n  a,  # one ]\n  b   # two\n]\nz: 1\n",
       "lockScopes: [\n  a,  # one ]\n  b, \"x\"   # two\n]\nz: 1\n"},
      {"a block list", "a: 1\nlockScopes:\n  - a  # one\n  - b\n# end\nz: 1\n",
       "a: 1\nlockScopes:\n  - a  # one\n  - b\n  - \"x\"\n# end\nz: 1\n"},
      {"a block list without indent", "lockScopes:\n- a\n- b\nz: 1\n",
       "lockScopes:\n- a\n- b\n- \"x\"\nz: 1\n"},
      {"a block list at the end", "lockScopes:\n    - a", "lockScopes:\n    - a\n    - \"x\""},
      {"an entry of several lines", "lockScopes:\n  - 'a\n    b'\nz: 1\n",
       "lockScopes:\n  - 'a\n    b'\n  - \"x\"\nz: 1\n"},
      {"a key without a value", "lockScopes:  # none yet\nz: 1\n",
       "lockScopes: [\"x\"]  # none yet\nz: 1\n"},
      {"a word for nothing", "lockScopes: ~ # none\n", "lockScopes: [\"x\"] # none\n"},
      {"null", "lockScopes: null\n", "lockScopes: [\"x\"]\n"},
      {"lines that end as in DOS", "a: 1\r\nlockScopes:\r\n  - a\r\n",
       "a: 1\r\nlockScopes:\r\n  - a\r\n  - \"x\"\r\n"},
      {"other writing", "lockScopes: [ü]\n", "lockScopes: [ü, \"x\"]\n"},
      {"there already", "lockScopes: [x]  # one\n", "lockScopes: [x]  # one\n"},
      {"there in quotes", "lockScopes:\n  - 'x'\n", "lockScopes:\n  - 'x'\n"},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.name);
    const auto after = n8n::with_lock_scope(each.before, "x", "env.yml");
    ASSERT_TRUE(after) << after.error().message;
    EXPECT_EQ(*after, each.after);
    const auto again = n8n::with_lock_scope(*after, "x", "env.yml");
    ASSERT_TRUE(again);
    EXPECT_EQ(*again, *after) << "once is enough";
  }
}

TEST(LockScopes, come_back_as_they_were_whatever_is_in_them) {
  for (const std::string scope :
       {"plain", "a: b", "# no comment", "- no", "it's", "\"q\"", "[a]", "ünï", "true", "1", "~"}) {
    auto text = n8n::with_lock_scope("lockScopes: [a]\n", scope, "env.yml");
    ASSERT_TRUE(text);
    text = n8n::with_lock_scope(*text, "last", "env.yml");
    ASSERT_TRUE(text);
    const auto env = n8n::Env::parse(*text, "env.yml");
    ASSERT_TRUE(env) << *text;
    EXPECT_EQ(env->lock_scopes(), (std::vector<std::string>{"a", scope, "last"}));
  }
}

TEST(LockScopes, that_cannot_be_added_safely_are_left_to_the_user) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"lockScopes: 5\n", "must be a list"},
      {"lockScopes: {a: 1}\n", "must be a list"},
      {"{a: 1}\n", "by hand"},
      {"all: &all [a]\nlockScopes: *all\n", "by hand"},
      {"a: 1\n---\nb: 2\n", "by hand"},
      {"a: [\n", "env.yml:"},
      {"- a\n", "KEY: VALUE"},
      {"a: 1\na: 2\n", "stands twice"},
  };
  for (const auto& [before, says] : cases) {
    SCOPED_TRACE(before);
    const auto refused = n8n::with_lock_scope(before, "x", "env.yml");
    ASSERT_FALSE(refused) << *refused;
    EXPECT_EQ(refused.error().code, Errc::bad_input);
    EXPECT_NE(refused.error().message.find(says), std::string::npos) << refused.error().message;
  }
}

}  // namespace
}  // namespace holdfast::test
