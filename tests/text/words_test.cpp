// SPDX-License-Identifier: Apache-2.0
#include "text/words.hpp"

#include <gtest/gtest.h>

namespace holdfast::text {
namespace {

TEST(Words, algorithms_and_layouts_of_rate_limits_are_read_as_they_are_written) {
  EXPECT_EQ(to_string(RateAlgorithm::fixed_window), "fixed_window");
  EXPECT_EQ(to_string(RateAlgorithm::sliding_window), "sliding_window");
  EXPECT_EQ(to_string(RateAlgorithm::token_bucket), "token_bucket");
  EXPECT_EQ(to_string(RateLayout::native), "native");
  EXPECT_EQ(to_string(RateLayout::n8n), "n8n");
  EXPECT_EQ(to_string(RateLayout::redisx), "redisx");
  for (const auto each :
       {RateAlgorithm::fixed_window, RateAlgorithm::sliding_window, RateAlgorithm::token_bucket}) {
    EXPECT_EQ(parse_rate_algorithm(to_string(each)), each);
  }
  for (const auto each : {RateLayout::native, RateLayout::n8n, RateLayout::redisx}) {
    EXPECT_EQ(parse_rate_layout(to_string(each)), each);
  }
}

TEST(Words, another_word_is_none) {
  for (const auto* word : {"", "leaky_bucket", "Fixed_window", "fixed_window ", "n8n"}) {
    EXPECT_FALSE(parse_rate_algorithm(word)) << word;
  }
  for (const auto* word : {"", "N8N", "native ", "fixed_window"}) {
    EXPECT_FALSE(parse_rate_layout(word)) << word;
  }
}

}  // namespace
}  // namespace holdfast::text
