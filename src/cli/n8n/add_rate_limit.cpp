// SPDX-License-Identifier: Apache-2.0
#include "n8n/add_rate_limit.hpp"

#include "cli/command.hpp"
#include "cli/n8n/whole_number.hpp"
#include "cli/n8n/wrap_workflow.hpp"
#include "n8n/limits.hpp"
#include "text/quote.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>

namespace holdfast::cli {
namespace n8n_add_rate_limit_cmd {
namespace {

// One bucket for all runs of the workflow.
constexpr std::string_view default_scope = "={{ $workflow.id }}";

struct Arguments {
  WrapArguments wrap;
  std::optional<std::int64_t> limit;
  std::optional<std::int64_t> window_seconds;
  std::string on_denied;
};

Result<n8n::OnDenied> read_on_denied(const std::string& word) {
  if (word.empty() || word == "passthrough") return n8n::OnDenied::passthrough;
  if (word == "stop" || word == "error") return n8n::OnDenied::stop;
  return fail(Errc::bad_input, fmt::format("--on-denied {}: must be passthrough, stop or error",
                                           text::quoted(word)));
}

Result<int> add(Context& context, const Arguments& arguments) {
  const auto on_denied = read_on_denied(arguments.on_denied);
  if (!on_denied) return std::unexpected(on_denied.error());
  auto scope = n8n::normalise_scope(arguments.wrap.scope);
  if (!scope) {
    scope.error().message = "--scope-expression: " + scope.error().message;
    return std::unexpected(std::move(scope.error()));
  }
  const n8n::RateLimitWish wish{.scope = *scope,
                                .limit = *arguments.limit,
                                .window_seconds = *arguments.window_seconds,
                                .on_denied = *on_denied};
  return wrap_workflow(context.console, arguments.wrap,
                       {.change =
                            [&](n8n::Workflow& workflow, const n8n::Filling& filling) {
                              return n8n::add_rate_limit(workflow, wish, filling);
                            },
                        .scope = scope->text,
                        .fixed = {}});
}

Action declare(Syntax& syntax) {
  const auto arguments = std::make_shared<Arguments>();
  arguments->wrap.scope = default_scope;
  add_wrap_arguments(syntax, arguments->wrap);
  add_whole(syntax, "--limit", arguments->limit, {1, n8n::max_workflow_limit},
            "How many runs a window has")
      .required();
  add_whole(syntax, "--window-seconds", arguments->window_seconds, {1, n8n::max_workflow_seconds},
            "How long a window is")
      .required();
  syntax.option("--scope-expression", &arguments->wrap.scope, "EXPRESSION",
                "What is counted: a word, or an expression such as =api-{{ $json.userId }} "
                "(default: the workflow)");
  syntax.option("--on-denied", &arguments->on_denied, "passthrough|stop|error",
                "What to do with one too many: end with {allowed: false, …}, or fail, for which "
                "stop and error are two words (default: passthrough)");
  return [arguments](Context& context) { return add(context, *arguments); };
}

constexpr Example examples[] = {
    {"holdfast n8n add-rate-limit hook.json --limit 10 --window-seconds 60",
     "Ten runs a minute; what is more ends with {allowed: false}."}};

constexpr std::string_view description =
    "Puts a gate behind the trigger of a workflow: only so many runs in each window get through, "
    "with the items that the trigger gave. If the workflow has a lock of add-lock, the gate comes "
    "in front of it, so that nobody waits for a lock only to be turned away.\n\n"
    "The file is changed in place, or left as it is if anything is wrong with it. A workflow that "
    "has a rate limit, no trigger, or several triggers is refused.\n\n"
    "With --json: an object with the fields file or workflow, scope, registered and notes.";

}  // namespace
}  // namespace n8n_add_rate_limit_cmd

extern const Command n8n_add_rate_limit_command;
const Command n8n_add_rate_limit_command{.name = "n8n add-rate-limit",
                                         .arguments = "FILE --limit N --window-seconds N",
                                         .summary = "let only so many runs of a workflow through",
                                         .description = n8n_add_rate_limit_cmd::description,
                                         .examples = n8n_add_rate_limit_cmd::examples,
                                         .declare = n8n_add_rate_limit_cmd::declare};

}  // namespace holdfast::cli
