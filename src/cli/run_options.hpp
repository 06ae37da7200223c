// SPDX-License-Identifier: Apache-2.0
//
// What `run` and `elect` share: how long a lease lasts, and what happens to the command with it.
#pragma once

#include <holdfast/error.hpp>
#include <holdfast/options.hpp>

#include "cli/process/ladder.hpp"
#include "cli/syntax.hpp"

#include <optional>
#include <string>

namespace holdfast::cli {

struct RunOptions {
  std::optional<Duration> ttl;
  std::optional<Duration> max_hold;
  std::optional<Duration> kill_after;
  OnLost on_lost = OnLost::term;
  std::string note;
  bool keep_child = false;
};

// `may_ignore`: --on-lost has `ignore` too.
void add_run_options(Syntax& syntax, RunOptions& options, bool may_ignore);

// Errors: bad_input for a --kill-after that the ttl leaves no room for.
Result<LadderOptions> ladder_options(const RunOptions& options, Duration ttl);

// The text fields are views into `options` and `program`.
AcquireOptions acquire_options(const RunOptions& options, Duration ttl, const std::string& program);

}  // namespace holdfast::cli
