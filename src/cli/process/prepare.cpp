// SPDX-License-Identifier: Apache-2.0
#include "cli/process/prepare.hpp"

#include "cli/process/held_above.hpp"

namespace holdfast::cli {

Result<Prepared> prepare(Context& context, const RunOptions& options) {
  auto settings = context.settings();
  if (!settings) return std::unexpected(std::move(settings.error()));
  const auto ttl = options.ttl.value_or(settings->ttl.value);
  auto ladder = ladder_options(options, ttl);
  if (!ladder) return std::unexpected(std::move(ladder.error()));
  return Prepared{
      .ttl = ttl, .ladder = *ladder, .program = find_program(context.command_line.front())};
}

Launch launch_under(std::span<const Lease> leases, const Context& context,
                    const std::string& program) {
  return {.path = program,
          .words = context.command_line,
          .environment = environment_with(variables_for(leases))};
}

int report(Console& console, const NoProgram& missing) {
  console.error(missing.message, missing.exit_code);
  return missing.exit_code;
}

}  // namespace holdfast::cli
