// SPDX-License-Identifier: Apache-2.0
#include "n8n/add_lock.hpp"

#include "cli/command.hpp"
#include "cli/n8n/whole_number.hpp"
#include "cli/n8n/wrap_workflow.hpp"

#include <memory>
#include <utility>

namespace holdfast::cli {
namespace n8n_add_lock_cmd {
namespace {

struct Arguments {
  WrapArguments wrap;
  std::optional<std::int64_t> ttl_seconds;
  std::optional<std::int64_t> max_wait_seconds;
  bool fail_fast = false;
  bool lock_on_error = false;
};

Result<int> add(Context& context, const Arguments& arguments) {
  auto scope = n8n::normalise_scope(arguments.wrap.scope);
  if (!scope) {
    scope.error().message = "--scope-expression: " + scope.error().message;
    return std::unexpected(std::move(scope.error()));
  }
  const n8n::LockWish wish{
      .scope = *scope,
      .ttl_seconds = arguments.ttl_seconds.value_or(n8n::default_lock_ttl_seconds),
      .max_wait_seconds = arguments.max_wait_seconds.value_or(n8n::default_lock_wait_seconds),
      .fail_fast = arguments.fail_fast,
      .on_error = arguments.lock_on_error};
  return wrap_workflow(context.console, arguments.wrap,
                       {.change =
                            [&](n8n::Workflow& workflow, const n8n::Filling& filling) {
                              return n8n::add_lock(workflow, wish, filling);
                            },
                        .scope = scope->text,
                        .fixed = scope->fixed});
}

Action declare(Syntax& syntax) {
  const auto arguments = std::make_shared<Arguments>();
  add_wrap_arguments(syntax, arguments->wrap);
  syntax
      .option("--scope-expression", &arguments->wrap.scope, "EXPRESSION",
              "What is locked: a word, or an expression such as ={{ 'file-' + $json.id }}")
      .required();
  add_whole(syntax, "--ttl-seconds", arguments->ttl_seconds, {1, n8n::max_workflow_seconds},
            "When a lock that nobody gave back is free again (default: 86400)");
  add_whole(syntax, "--max-wait-seconds", arguments->max_wait_seconds,
            {0, n8n::max_workflow_seconds}, "How long to wait for the lock (default: 86400)");
  syntax.flag("--fail-fast", &arguments->fail_fast, "Do not wait: fail if the lock is held");
  syntax.flag("--lock-on-error", &arguments->lock_on_error,
              "Let error_handler_lock_cleanup give the lock back when the workflow fails");
  return [arguments](Context& context) { return add(context, *arguments); };
}

constexpr Example examples[] = {
    {"holdfast n8n add-lock flow.json --scope-expression reports --env live.yml",
     "One run of the workflow at a time; the scope is registered in live.yml."},
    {"holdfast n8n add-lock flow.json --scope-expression '=file-{{ $json.id }}'",
     "One run for each file."}};

constexpr std::string_view description =
    "Puts a workflow under a lock: everything behind its trigger runs while the lock is held, with "
    "the items that the trigger gave. The lock is given back once, when all branches are done, "
    "by the scope and the lock_id that were acquired. If the workflow has a rate limit of "
    "add-rate-limit, the lock comes behind it.\n\n"
    "The file is changed in place, or left as it is if anything is wrong with it. A workflow that "
    "has a lock, no trigger, or several triggers is refused: whatever a second trigger starts "
    "would "
    "bypass the lock.\n\n"
    "With --env the ids of lock_acquisition and lock_release are filled in, and a scope that "
    "does not depend on the data is added to lockScopes in that file, whose comments and layout "
    "stay. Without it, or in a file that has placeholders, placeholders are written.\n\n"
    "With --json: an object with the fields file or workflow, scope, registered and notes.";

}  // namespace
}  // namespace n8n_add_lock_cmd

extern const Command n8n_add_lock_command;
const Command n8n_add_lock_command{.name = "n8n add-lock",
                                   .arguments = "FILE --scope-expression EXPRESSION",
                                   .summary = "put a workflow under a lock",
                                   .description = n8n_add_lock_cmd::description,
                                   .examples = n8n_add_lock_cmd::examples,
                                   .declare = n8n_add_lock_cmd::declare};

}  // namespace holdfast::cli
