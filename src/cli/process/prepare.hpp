// SPDX-License-Identifier: Apache-2.0
//
// What `run` and `elect` settle before they ask for a lock.
#pragma once

#include "cli/context.hpp"
#include "cli/process/child.hpp"
#include "cli/process/find_program.hpp"
#include "cli/process/ladder.hpp"
#include "cli/run_options.hpp"

#include <expected>
#include <span>
#include <string>

namespace holdfast::cli {

struct Prepared {
  Duration ttl{};
  LadderOptions ladder;
  std::expected<std::string, NoProgram> program;  // where the command lies
};

// Errors: bad_input.
Result<Prepared> prepare(Context& context, const RunOptions& options);

// The command under these leases.
Launch launch_under(std::span<const Lease> leases, const Context& context,
                    const std::string& program);

// Says why there is no command, and returns the exit code for that.
int report(Console& console, const NoProgram& missing);

}  // namespace holdfast::cli
