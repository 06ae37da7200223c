// SPDX-License-Identifier: Apache-2.0
#include <holdfast/n8n.hpp>

#include "cli/command.hpp"
#include "cli/look/display.hpp"
#include "cli/look/warnings.hpp"
#include "cli/n8n/in_n8n_store.hpp"
#include "cli/n8n/whole_number.hpp"
#include "recipes/n8n_json.hpp"
#include "text/error_codes.hpp"

#include <fmt/format.h>

#include <memory>

namespace holdfast::cli {
namespace n8n_rate_limit_cmd {
namespace {

constexpr std::int64_t max_window =
    std::chrono::duration_cast<std::chrono::seconds>(max_rate_window).count();

struct Arguments {
  std::string scope;
  std::optional<std::int64_t> limit;
  std::optional<std::int64_t> window;
};

Result<int> check(Context& context, const Arguments& arguments) {
  const WarningsAsDetails warnings(context.console);
  n8n::RateRequest request{.scope = arguments.scope};
  if (arguments.limit) request.limit = static_cast<std::uint32_t>(*arguments.limit);
  request.window_seconds = arguments.window.value_or(request.window_seconds);
  auto client = open_n8n_store(context);
  if (!client) return std::unexpected(std::move(client.error()));
  const auto outcome = n8n::check_rate(*client, request);
  if (!outcome) return std::unexpected(outcome.error());
  context.console.print(n8n::to_json(request.scope, *outcome));
  context.console.print(fmt::format("{}: {} of {}, {} until the window ends",
                                    outcome->allowed ? "allowed" : "denied", outcome->count,
                                    outcome->limit, readable(outcome->reset_after)));
  return outcome->allowed ? 0 : text::exit_code(Errc::busy);
}

Action declare(Syntax& syntax) {
  const auto arguments = std::make_shared<Arguments>();
  syntax.positional("SCOPE", &arguments->scope, "What is limited").required();
  add_whole(syntax, "--limit", arguments->limit, {1, max_rate_limit},
            "Hits in a window; default: 10");
  add_whole(syntax, "--window-seconds", arguments->window, {1, max_window},
            "How long a window is; default: 60");
  return [arguments](Context& context) { return check(context, *arguments); };
}

constexpr Example examples[] = {
    {"holdfast n8n rate-limit api-v1 --limit 100 --window-seconds 60 || exit 1",
     "A script counts together with the workflows."}};

}  // namespace
}  // namespace n8n_rate_limit_cmd

extern const Command n8n_rate_limit_command;
const Command n8n_rate_limit_command{
    .name = "n8n rate-limit",
    .arguments = "SCOPE",
    .summary = "count a hit together with n8n's workflows",
    .description =
        "Counts as the sub-workflow rate_limit_check does, in a fixed window; what is "
        "denied counts too. The exit code is 0 if it is allowed, and that of a busy "
        "lock if not. 'holdfast limit' knows better algorithms and waits for its turn.",
    .examples = n8n_rate_limit_cmd::examples,
    .declare = n8n_rate_limit_cmd::declare};

}  // namespace holdfast::cli
