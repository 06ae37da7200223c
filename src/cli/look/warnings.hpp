// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/console.hpp"

namespace holdfast::cli {

// While it lives, what the library would log is a detail, shown with --verbose only. For commands
// that report the same in their own words, or have nothing to lose by it. One at a time.
class WarningsAsDetails {
 public:
  explicit WarningsAsDetails(Console& console);
  WarningsAsDetails(const WarningsAsDetails&) = delete;
  WarningsAsDetails& operator=(const WarningsAsDetails&) = delete;
  ~WarningsAsDetails();
};

}  // namespace holdfast::cli
