// SPDX-License-Identifier: Apache-2.0
#include <holdfast/n8n.hpp>

#include "cli/command.hpp"
#include "cli/look/warnings.hpp"
#include "cli/n8n/whole_number.hpp"
#include "cli/process/attend.hpp"
#include "cli/process/take.hpp"
#include "recipes/n8n_json.hpp"

#include <fmt/format.h>

#include <memory>

namespace holdfast::cli {
namespace n8n_acquire_cmd {
namespace {

constexpr std::int64_t max_seconds = n8n::default_seconds;

struct Arguments {
  n8n::LockRequest request;
  std::optional<std::int64_t> ttl;
  std::optional<std::int64_t> max_wait;
  bool fail_fast = false;
};

// A lock that nobody was told of is nobody's: it goes before its time.
int hand_out(Console& console, const Client& client, const n8n::Lock& lock) {
  console.print(n8n::to_json(lock));
  console.print(lock.lock_id);
  if (console.finish()) return 0;
  const auto released = n8n::release(client, lock.scope, lock.lock_id);
  if (!released) console.error(released.error());
  return exit_output_failed;
}

Result<int> acquire(Context& context, const Arguments& arguments) {
  const WarningsAsDetails warnings(context.console);
  auto request = arguments.request;
  request.ttl_seconds = arguments.ttl.value_or(request.ttl_seconds);
  request.max_wait_seconds = arguments.max_wait.value_or(request.max_wait_seconds);
  request.wait_till_lock_released = !arguments.fail_fast;
  if (auto good = context.change_store(n8n::store_url); !good) {
    return std::unexpected(std::move(good.error()));
  }
  std::signal(SIGPIPE, SIG_IGN);
  const Signals signals;
  auto store = open_attended(context, signals);
  if (!store) return std::unexpected(std::move(store.error()));
  Result<n8n::Lock> lock = fail(Errc::cancelled, "the wait was cancelled");
  const auto signal = attend(signals, {}, [&](const std::stop_token& stop) {
    lock = n8n::acquire(store->client, request, stop);
  });
  if (signal) {
    if (lock) (void)n8n::release(store->client, lock->scope, lock->lock_id);
    die_by(*signal);
  }
  if (!lock) return std::unexpected(std::move(lock.error()));
  return hand_out(context.console, store->client, *lock);
}

Action declare(Syntax& syntax) {
  const auto arguments = std::make_shared<Arguments>();
  auto& request = arguments->request;
  syntax.positional("SCOPE", &request.scope, "What is locked").required();
  syntax.option("--lock-id", &request.lock_id, "TEXT",
                "What its release must give; default: a new UUID");
  add_whole(syntax, "--ttl-seconds", arguments->ttl, {1, max_seconds},
            "How long it stays if nobody releases it; default: 86400");
  add_whole(syntax, "--max-wait-seconds", arguments->max_wait, {0, max_seconds},
            "How long to wait for it; default: 86400");
  syntax.flag("--fail-fast", &arguments->fail_fast, "Do not wait");
  syntax.option("--execution-id", &request.execution_id, "TEXT",
                "Whose it is: what a clean-up goes by");
  syntax.option("--workflow-id", &request.workflow_id, "TEXT", "Shown to others");
  syntax.option("--workflow-name", &request.workflow_name, "TEXT", "Shown to others");
  return [arguments](Context& context) { return acquire(context, *arguments); };
}

constexpr Example examples[] = {
    {"holdfast n8n acquire excel-42 --ttl-seconds 600 --store redis://127.0.0.1",
     "Workflows that lock excel-42 wait from now on."}};

}  // namespace
}  // namespace n8n_acquire_cmd

extern const Command n8n_acquire_command;
const Command n8n_acquire_command{
    .name = "n8n acquire",
    .arguments = "SCOPE",
    .summary = "take a lock that n8n's workflows respect",
    .description =
        "Takes the lock as the sub-workflow lock_acquisition does, and leaves it held. "
        "Prints the lock_id, which 'holdfast n8n release' needs. Waits in line, unless "
        "--fail-fast is given.",
    .examples = n8n_acquire_cmd::examples,
    .declare = n8n_acquire_cmd::declare};

}  // namespace holdfast::cli
