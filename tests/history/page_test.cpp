// SPDX-License-Identifier: Apache-2.0
//
// docs/history-format.md against the format itself.
#include "history/check.hpp"
#include "history/jsonl.hpp"
#include "history/jsonl_format.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace holdfast::history {
namespace {

std::string page() {
  const auto root = std::filesystem::path(__FILE__).parent_path().parent_path().parent_path();
  std::ifstream file(root / "docs/history-format.md");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(HistoryPage, has_every_event_and_every_field) {
  const std::string text = page();
  const auto has = [&](std::string_view word) {
    return text.find("`" + std::string(word) + "`") != std::string::npos;
  };
  for (const EventFormat& format : event_formats) EXPECT_TRUE(has(format.name)) << format.name;
  for (const std::string_view field : field_names) EXPECT_TRUE(has(field)) << field;
}

TEST(HistoryPage, shows_an_example_that_is_read_and_clean) {
  const std::string text = page();
  const std::string begin = "```json\n";
  const auto from = text.find(begin);
  ASSERT_NE(from, std::string::npos);
  const auto start = from + begin.size();
  const Parsed history = read_jsonl(text.substr(start, text.find("```", start) - start));
  ASSERT_TRUE(history) << history.error();
  EXPECT_EQ(history->attempts.size(), 2U);
  EXPECT_TRUE(Checker().check(*history).empty());
}

}  // namespace
}  // namespace holdfast::history
