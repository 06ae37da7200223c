// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/syntax.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace holdfast::cli {

struct WholeRange {
  std::int64_t least = 1;
  std::int64_t most = 1;
};

// An option whose value is a whole number in a range. Anything else is refused, with the range.
Option& add_whole(Syntax& syntax, std::string name, std::optional<std::int64_t>& value,
                  WholeRange range, std::string text);

}  // namespace holdfast::cli
