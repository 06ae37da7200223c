// SPDX-License-Identifier: Apache-2.0
#include "text/config_node.hpp"

#include <gtest/gtest.h>

#include <string>

namespace holdfast::text {
namespace {

ConfigNode node_of(std::string_view yaml) {
  auto node = ConfigNode::parse(yaml);
  if (node) return *std::move(node);
  ADD_FAILURE() << node.error().message;
  return {};
}

ConfigFlaw flaw_of(std::string_view yaml,
                   ConfigNode::Documents documents = ConfigNode::Documents::first) {
  auto node = ConfigNode::parse(yaml, documents);
  if (!node) return std::move(node.error());
  ADD_FAILURE() << yaml;
  return {};
}

TEST(ConfigNode, nothing_is_null) {
  EXPECT_TRUE(ConfigNode().is_null());
  EXPECT_EQ(ConfigNode().mark().line_number(), 1U);
  for (const auto* yaml : {"", "\n", "# nothing yet\n", "---\n", "~", "null"}) {
    EXPECT_TRUE(node_of(yaml).is_null()) << yaml;
  }
  EXPECT_TRUE(node_of("a:").find("a").is_null());
  EXPECT_FALSE(node_of("a: ''").find("a").is_null());
}

TEST(ConfigNode, a_scalar_is_its_text_and_knows_its_quotes) {
  EXPECT_EQ(node_of("a: 007").find("a").scalar(), "007");
  EXPECT_FALSE(node_of("a: 007").find("a").is_quoted());
  EXPECT_TRUE(node_of("a: '007'").find("a").is_quoted());
  EXPECT_TRUE(node_of("a: \"007\"").find("a").is_quoted());
  EXPECT_EQ(node_of("[a]").scalar(), "");
  EXPECT_TRUE(node_of("a").elements().empty());
  EXPECT_TRUE(node_of("a").entries().empty());
}

TEST(ConfigNode, a_list_and_a_map_keep_their_order) {
  const auto list = node_of("[c, a, b]").elements();
  ASSERT_EQ(list.size(), 3U);
  EXPECT_EQ(list[0].scalar() + list[1].scalar() + list[2].scalar(), "cab");
  const auto map = node_of("c: 1\na: 2\nc: 3\n? [x]\n: 4\n");
  const auto entries = map.entries();
  ASSERT_EQ(entries.size(), 4U);
  EXPECT_EQ(entries[2].key.scalar(), "c");
  EXPECT_TRUE(entries[3].key.is_list());
  EXPECT_EQ(map.find("c").scalar(), "1");
  EXPECT_TRUE(map.find("x").is_null());
}

TEST(ConfigNode, every_node_knows_its_place) {
  const auto root = node_of("# first\na:\n  - b\n  - {c: d}\n");
  EXPECT_EQ(root.mark().line_number(), 2U);
  const auto list = root.find("a");
  EXPECT_EQ(list.mark().line_number(), 3U);
  EXPECT_EQ(list.mark().column, 2);
  EXPECT_EQ(list.elements()[1].find("c").mark().line_number(), 4U);
  EXPECT_EQ(list.elements()[1].find("c").mark().column, 8);
}

TEST(ConfigNode, an_alias_is_what_it_refers_to_even_in_a_circle) {
  const auto root = node_of("a: &x {b: 1}\nc: *x\n");
  EXPECT_EQ(root.find("c").find("b").scalar(), "1");
  EXPECT_EQ(root.find("c").mark().line_number(), 1U);
  const auto circle = node_of("&x [*x]");
  EXPECT_TRUE(circle.elements()[0].elements()[0].is_list());
}

TEST(ConfigNode, a_node_outlives_the_one_it_came_from) {
  const auto inner = [] { return node_of("a: {b: text}").find("a").find("b"); }();
  EXPECT_EQ(inner.scalar(), "text");
}

TEST(ConfigNode, a_flaw_names_its_line) {
  EXPECT_EQ(flaw_of("a: 1\nb: c: d\n").mark.line_number(), 2U);
  EXPECT_FALSE(flaw_of("a: [1\n").message.empty());
  EXPECT_EQ(flaw_of("a: 1\nb: *nobody\n").mark.line_number(), 2U);
  EXPECT_FALSE(flaw_of(std::string(100'000, '[')).message.empty());
}

TEST(ConfigNode, a_second_document_is_left_out_or_refused) {
  EXPECT_EQ(node_of("a: 1\n---\na: 2\n").find("a").scalar(), "1");
  const auto flaw = flaw_of("a: 1\n---\na: 2\n", ConfigNode::Documents::only);
  EXPECT_EQ(flaw.message, "the YAML document ends here, but something follows");
  EXPECT_EQ(flaw.mark.line_number(), 2U);
  EXPECT_TRUE(ConfigNode::parse("a: 1\n...\n", ConfigNode::Documents::only));
}

}  // namespace
}  // namespace holdfast::text
