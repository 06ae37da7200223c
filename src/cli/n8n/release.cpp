// SPDX-License-Identifier: Apache-2.0
#include <holdfast/n8n.hpp>

#include "cli/command.hpp"
#include "cli/look/display.hpp"
#include "cli/look/warnings.hpp"
#include "cli/n8n/in_n8n_store.hpp"
#include "cli/options.hpp"
#include "recipes/n8n_json.hpp"

#include <fmt/format.h>

#include <memory>

namespace holdfast::cli {
namespace n8n_release_cmd {
namespace {

struct Arguments {
  std::string scope;
  std::string lock_id;
  std::optional<Fence> fence;
};

Result<int> release(Context& context, const Arguments& arguments) {
  const WarningsAsDetails warnings(context.console);
  auto client = open_n8n_store(context);
  if (!client) return std::unexpected(std::move(client.error()));
  const auto released = n8n::release(*client, arguments.scope, arguments.lock_id, arguments.fence);
  if (!released) return std::unexpected(released.error());
  context.console.print(n8n::to_json(*released));
  context.console.print(released->idempotent
                            ? fmt::format("'{}' was not held", cleaned(arguments.scope))
                            : fmt::format("'{}' is released", cleaned(arguments.scope)));
  return 0;
}

Action declare(Syntax& syntax) {
  const auto arguments = std::make_shared<Arguments>();
  syntax.positional("SCOPE", &arguments->scope, "What is locked").required();
  syntax.positional("LOCK_ID", &arguments->lock_id, "What acquire printed").required();
  add_fence(syntax, arguments->fence);
  return [arguments](Context& context) { return release(context, *arguments); };
}

constexpr Example examples[] = {{"holdfast n8n release excel-42 \"$lock_id\"", "Gives it back."}};

}  // namespace
}  // namespace n8n_release_cmd

extern const Command n8n_release_command;
const Command n8n_release_command{
    .name = "n8n release",
    .arguments = "SCOPE LOCK_ID",
    .summary = "give a lock of n8n's workflows back",
    .description =
        "Releases the lock if the lock_id is that of its holder, whoever that is. A "
        "lock that nobody holds counts as released; one of another holder is left "
        "alone, and the error names who that is. A lock_id of your own that is used again may "
        "have the next lock by the time a late release comes: --fence names the one that is meant.",
    .examples = n8n_release_cmd::examples,
    .declare = n8n_release_cmd::declare};

}  // namespace holdfast::cli
