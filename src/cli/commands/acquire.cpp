// SPDX-License-Identifier: Apache-2.0
#include "cli/command.hpp"
#include "cli/look/warnings.hpp"
#include "cli/options.hpp"
#include "cli/owner.hpp"
#include "cli/process/take.hpp"
#include "text/json.hpp"

#include <fmt/format.h>

#include <csignal>
#include <memory>

namespace holdfast::cli {
namespace acquire_cmd {
namespace {

struct Arguments {
  std::string name;
  std::string owner;
  std::string note;
  std::optional<Duration> ttl;
  std::optional<Duration> wait;
  bool no_wait = false;
  LockChoice choice;
};

// A lock whose owner nobody was told could not be released.
Result<std::string> choose_owner(const Console& console, const Arguments& arguments) {
  if (!arguments.owner.empty()) return arguments.owner;
  if (console.quiet() && !console.json()) {
    return fail(Errc::bad_input,
                "with --quiet nobody would learn the owner; give --owner, or leave out --quiet");
  }
  if (!arguments.choice.reentrant) return "";
  return owner_in_force("", arguments.name).value_or("");
}

void print(Console& console, const Lease& lease) {
  const auto now = std::chrono::floor<Micros>(std::chrono::system_clock::now());
  const auto owner = lease.owner().view();
  console.print(text::to_json(text::LeaseFields{.name = lease.name().str(),
                                                .owner = owner,
                                                .fence = lease.fence(),
                                                .remaining = lease.remaining()},
                              now));
  console.print(fmt::format("{} {}", owner, lease.fence()));
}

// Nobody knows of the lock if the line cannot be written.
int hand_out(Console& console, Lease lease) {
  print(console, lease);
  if (console.finish()) {
    lease.detach();
    return 0;
  }
  if (const auto released = lease.release(); !released) console.error(released.error());
  return exit_output_failed;
}

Result<int> acquire(Context& context, const Arguments& arguments) {
  const WarningsAsDetails warnings(context.console);
  const auto owner = choose_owner(context.console, arguments);
  if (!owner) return std::unexpected(owner.error());
  const auto settings = context.settings();
  if (!settings) return std::unexpected(settings.error());
  if (arguments.wait && *arguments.wait > max_wait) {
    return fail(Errc::bad_input, "--wait must be at most 24h");
  }
  // A reader that went away is an error like any other, not the end of us.
  std::signal(SIGPIPE, SIG_IGN);
  const Signals signals;
  auto client = open_attended(context, signals);
  if (!client) return std::unexpected(std::move(client.error()));
  const auto patience = arguments.wait ? arguments.wait : settings->wait.value;
  Wanted wanted;
  wanted.choice = arguments.choice;
  wanted.names = {arguments.name};
  wanted.options.ttl = arguments.ttl.value_or(settings->ttl.value);
  wanted.options.renew = false;
  wanted.options.owner = *owner;
  wanted.options.note = arguments.note;
  wanted.wait = arguments.no_wait ? Duration::zero() : patience.value_or(Duration::zero());
  auto leases = take(*client, wanted, context.console, signals);
  if (!leases) return std::unexpected(std::move(leases.error()));
  return hand_out(context.console, std::move(leases->front()));
}

Action declare(Syntax& syntax) {
  const auto arguments = std::make_shared<Arguments>();
  add_name(syntax, arguments->name);
  add_duration(
      syntax, "--ttl", arguments->ttl,
      "The lease lasts so long, unless it is renewed (default: ttl of config.yml, or 30s)");
  auto& wait =
      add_duration(syntax, "--wait", arguments->wait,
                   "Wait so long for the lock (default: wait of config.yml, or not at all)");
  syntax.flag("--no-wait", &arguments->no_wait, "Do not wait, whatever config.yml says")
      .excludes(wait);
  syntax.option("--owner", &arguments->owner, "TOKEN",
                "Hold it under this owner token instead of a fresh one; keep it secret");
  syntax.option("--note", &arguments->note, "TEXT", "Shown to whoever looks at the lock");
  add_lock_choice(syntax, arguments->choice);
  return [arguments](Context& context) { return acquire(context, *arguments); };
}

constexpr Example examples[] = {
    {"read -r owner fence < <(holdfast acquire deploy --ttl 10m)",
     "Take it, and keep what is needed to release it (bash)."},
    {"holdfast acquire deploy --wait 30s", "Wait in line for up to 30 seconds."},
    {"holdfast acquire gpu --permits 1/4 --note 'training'", "One of four permits."}};

}  // namespace
}  // namespace acquire_cmd

extern const Command acquire_command;
const Command acquire_command{
    .name = "acquire",
    .arguments = "NAME",
    .summary = "take a lock now, to release it later",
    .description =
        "Takes the lock, prints one line with the owner token and the fence, and ends. The lock "
        "stays held until 'holdfast release', or until its ttl has passed: nothing renews it but "
        "'holdfast renew'. Where one command does the whole work, 'holdfast run' is safer, since "
        "it renews the lease and notices its loss.\n\n"
        "The owner token is the secret that allows to renew and release. The fence grows with "
        "every grant; hand it to the resource, and let it refuse older ones.\n\n"
        "If the lock is held by somebody else, the exit code is 75 at once; with --wait it is 76 "
        "when the time is over. If the line cannot be written, the lock is given back, and the "
        "exit code is 74. A signal ends the wait, and leaves nothing behind.",
    .examples = acquire_cmd::examples,
    .declare = acquire_cmd::declare};

}  // namespace holdfast::cli
