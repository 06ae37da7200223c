// SPDX-License-Identifier: Apache-2.0
//
// While a person waits at a terminal, one line on standard error says for whom.
#pragma once

#include <holdfast/client.hpp>

#include "cli/console.hpp"

#include <string>
#include <string_view>

namespace holdfast::cli {

// "waiting for 'x', second of 3: held by report on web-1, pid 4711, for 2m 5s".
std::string describe_wait(const LockView& lock, std::string_view host, std::int64_t pid);

class WaitingLine {
 public:
  // Shows nothing unless standard error is a terminal and somebody wants to read it.
  explicit WaitingLine(const Console& console);
  ~WaitingLine() { wipe(); }
  WaitingLine(const WaitingLine&) = delete;
  WaitingLine& operator=(const WaitingLine&) = delete;

  bool is_active() const { return active_; }
  void show(std::string_view text);
  void wipe();

 private:
  bool active_;
  bool shown_ = false;
};

}  // namespace holdfast::cli
