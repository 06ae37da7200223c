// SPDX-License-Identifier: Apache-2.0
#include "cli/completion/completion.hpp"

namespace holdfast::cli {

std::string shell_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

}  // namespace holdfast::cli
