// SPDX-License-Identifier: Apache-2.0
#include <holdfast/n8n.hpp>

#include "cli/command.hpp"
#include "cli/look/display.hpp"
#include "cli/look/warnings.hpp"
#include "cli/n8n/in_n8n_store.hpp"
#include "recipes/n8n_json.hpp"

#include <fmt/format.h>

#include <memory>

namespace holdfast::cli {
namespace n8n_cleanup_cmd {
namespace {

Result<int> clean_up(Context& context, const n8n::CleanUpRequest& request) {
  const WarningsAsDetails warnings(context.console);
  auto client = open_n8n_store(context);
  if (!client) return std::unexpected(std::move(client.error()));
  const auto done = n8n::clean_up(*client, request);
  if (!done) return std::unexpected(done.error());
  auto& console = context.console;
  console.print(n8n::to_json(*done));
  for (const auto& scope : n8n::scopes_of(*done)) {
    console.print(fmt::format("'{}' is released", cleaned(scope)));
  }
  if (!done->reason.empty()) console.note(done->reason);
  return 0;
}

Action declare(Syntax& syntax) {
  const auto request = std::make_shared<n8n::CleanUpRequest>();
  syntax.positional("EXECUTION_ID", &request->execution_id, "Of the execution that failed")
      .required();
  syntax.option("--lock-scope", &request->lock_scopes, "SCOPE",
                "A scope to look at in any case; may be repeated");
  return [request](Context& context) { return clean_up(context, *request); };
}

constexpr Example examples[] = {
    {"holdfast n8n cleanup 4711", "Frees whatever the execution 4711 still holds."}};

}  // namespace
}  // namespace n8n_cleanup_cmd

extern const Command n8n_cleanup_command;
const Command n8n_cleanup_command{
    .name = "n8n cleanup",
    .arguments = "EXECUTION_ID",
    .summary = "end the locks of an execution that failed",
    .description =
        "Releases every lock that names the execution, as the sub-workflow "
        "error_handler_lock_cleanup does, and no other. Scopes need not be registered: "
        "locks can be listed.",
    .examples = n8n_cleanup_cmd::examples,
    .declare = n8n_cleanup_cmd::declare};

}  // namespace holdfast::cli
