// SPDX-License-Identifier: Apache-2.0
#include "cli/command.hpp"
#include "cli/look/warnings.hpp"
#include "cli/options.hpp"
#include "cli/process/held_above.hpp"
#include "cli/process/prepare.hpp"
#include "cli/process/supervisor.hpp"
#include "cli/process/take.hpp"
#include "client/options_check.hpp"
#include "text/duration.hpp"
#include "text/error_codes.hpp"
#include "text/quote.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <optional>

namespace holdfast::cli {
namespace run_cmd {
namespace {

using runtime::LocalClock;

struct Arguments {
  std::string name;
  std::vector<std::string> names;
  LockChoice choice;
  RunOptions run;
  std::optional<Duration> wait;
  bool no_wait = false;
  std::optional<int> busy_code;
};

std::int64_t elapsed_ms(LocalTime since) {
  return std::chrono::floor<std::chrono::milliseconds>(LocalClock::now() - since).count();
}

Result<Wanted> wanted_locks(const Arguments& arguments, const Settings& settings) {
  Wanted wanted{.choice = arguments.choice, .names = arguments.names, .options = {}, .wait = {}};
  if (!arguments.name.empty()) wanted.names.insert(wanted.names.begin(), arguments.name);
  if (wanted.names.empty()) {
    return fail(Errc::bad_input, "NAME is missing; see 'holdfast run --help'");
  }
  const auto& choice = arguments.choice;
  const bool exclusive = !choice.shared && !choice.reentrant && !choice.permits;
  if (wanted.names.size() > 1 && (!exclusive || choice.order != Order::automatic)) {
    return fail(Errc::bad_input,
                "several names are taken as exclusive locks; leave out --shared, --permits, "
                "--reentrant and --order, or give one name");
  }
  wanted.wait = arguments.wait ? arguments.wait : settings.wait.value;
  if (arguments.no_wait) wanted.wait = Duration::zero();
  // The first try does not wait, and would not find it.
  if (auto good = client::check_wait(wanted.wait.value_or(max_wait)); !good) {
    return std::unexpected(std::move(good.error()));
  }
  return wanted;
}

void report_acquired(Console& console, std::span<const Lease> leases, LocalTime asked_at) {
  if (!console.json()) {
    for (const auto& lease : leases) {
      console.detail(
          fmt::format("holds {}, fence {}", text::quoted(lease.name().str()), lease.fence()));
    }
    return;
  }
  boost::json::array locks;
  for (const auto& lease : leases) {
    const auto left = std::chrono::floor<std::chrono::milliseconds>(lease.remaining());
    locks.push_back(boost::json::object{
        {"name", lease.name().str()}, {"fence", lease.fence()}, {"expires_in_ms", left.count()}});
  }
  console.event(
      {{"event", "acquired"}, {"locks", std::move(locks)}, {"waited_ms", elapsed_ms(asked_at)}});
}

// False if one of them had ended before: then the command did not have it to its end.
bool release_all(std::vector<Lease>& leases, Console& console) {
  bool kept = true;
  for (auto& lease : leases) {
    const auto name = text::quoted(lease.name().str());
    const auto released = lease.release();
    if (!released) {
      console.note(fmt::format("{} could not be released and stays held until its ttl ends: {}",
                               name, released.error().message));
    } else if (*released != Released::released) {
      console.error({Errc::lost, fmt::format("{} had been lost before the command ended", name)});
      kept = false;
    }
  }
  return kept;
}

Supervisor::Options supervision(const RunOptions& run, const Prepared& prepared, Console& console) {
  return {.ladder = prepared.ladder,
          .keep_child = run.keep_child,
          .on_loss = [&console, &run, ttl = prepared.ttl, on_lost = run.on_lost,
                      since = LocalClock::now()](std::string why) {
            // From then on nobody asks for more than is left of it.
            const bool over = run.max_hold && LocalClock::now() - since >= *run.max_hold - ttl;
            if (over) why = "--max-hold is over";
            const auto* const what = on_lost == OnLost::ignore ? "the command goes on without it"
                                                               : "the command is ended";
            console.event({{"event", "lost"}, {"message", why}});
            if (console.json()) return;
            console.error({Errc::lost, fmt::format("lock lost: {}; {}", why, what)});
          }};
}

int run_under(std::vector<Lease>& leases, Context& context, Supervisor::Options options,
              const std::string& program, const Signals& signals) {
  const auto started_at = LocalClock::now();
  const auto on_lost = options.ladder.on_lost;
  Terminal terminal;
  Supervisor supervisor(signals, terminal, std::move(options));
  const auto ending = supervisor.run(launch_under(leases, context, program), leases);
  bool kept = ending && !ending->lost;
  if (!ending || kept) kept = release_all(leases, context.console);
  if (!ending) return report(context.console, ending.error());
  const bool lost = !kept && on_lost != OnLost::ignore;
  const int code = lost ? text::exit_code(Errc::lost) : ending->exit_code;
  context.console.event({{"event", "finished"},
                         {"exit_code", code},
                         {"signal", ending->signal ? boost::json::value(*ending->signal) : nullptr},
                         {"lost", !kept},
                         {"held_ms", elapsed_ms(started_at)}});
  // An interactive shell looks at how a job ended: after Ctrl-C it leaves a loop, too.
  if (!lost && ending->signal && terminal.exists() && isatty(STDIN_FILENO) == 1) {
    die_by(*ending->signal);
  }
  return code;
}

Result<int> run(Context& context, const Arguments& arguments) {
  auto settings = context.settings();
  if (!settings) return std::unexpected(std::move(settings.error()));
  auto wanted = wanted_locks(arguments, *settings);
  if (!wanted) return std::unexpected(std::move(wanted.error()));
  const auto prepared = prepare(context, arguments.run);
  if (!prepared) return std::unexpected(prepared.error());
  if (!prepared->program) return report(context.console, prepared->program.error());
  wanted->options = acquire_options(arguments.run, prepared->ttl, context.command_line.front());
  const auto owner = owner_above(wanted->names.front());
  if (arguments.choice.reentrant) wanted->options.owner = owner;

  const WarningsAsDetails our_own_words(context.console);
  const Signals signals;
  const auto asked_at = LocalClock::now();
  auto store = open_attended(context, signals);
  if (!store) return std::unexpected(std::move(store.error()));
  auto leases = take(*store, *wanted, context.console, signals);
  if (!leases) {
    const auto code = leases.error().code;
    if (code != Errc::busy && code != Errc::timed_out) return std::unexpected(leases.error());
    if (!arguments.busy_code) return std::unexpected(leases.error());
    context.console.error(leases.error().message, *arguments.busy_code);
    return *arguments.busy_code;
  }
  report_acquired(context.console, *leases, asked_at);
  return run_under(*leases, context, supervision(arguments.run, *prepared, context.console),
                   *prepared->program, signals);
}

Action declare(Syntax& syntax) {
  const auto arguments = std::make_shared<Arguments>();
  syntax.positional("NAME", &arguments->name, "The lock's name");
  syntax.option("--name", &arguments->names, "NAME",
                "One more name; all of them are taken together or none is. May be repeated");
  add_lock_choice(syntax, arguments->choice);
  auto& wait = add_duration(syntax, "-w,--wait", arguments->wait,
                            "Give up after this long (default: wait for ever)");
  syntax.flag("-n,--no-wait", &arguments->no_wait, "Give up at once if the lock is not free")
      .excludes(wait);
  syntax
      .option("-E,--busy-code", &arguments->busy_code, "CODE",
              "The exit code for a lock that was not free in time, instead of 75 and 76")
      .between(0, 255);
  add_run_options(syntax, arguments->run, true);
  return [arguments](Context& context) { return run(context, *arguments); };
}

constexpr Example examples[] = {
    {"holdfast run nightly-report -- ./report.sh",
     "Never two reports at once, on this machine or on all that share the store."},
    {"holdfast run --no-wait cron:backup -- backup --all", "Skip this time if one still runs."},
    {"holdfast run --permits 1/4 thumbnails -- convert a.png b.jpg", "At most four at a time."},
    {"holdfast run --shared site -- ./check-links",
     "Together with other readers, but never during 'holdfast run site -- ./publish'."},
    {"holdfast run --name db --name cache -- ./migrate", "Both locks, or neither."},
};

}  // namespace
}  // namespace run_cmd

extern const Command run_command;
const Command run_command{
    .name = "run",
    .arguments = "NAME -- COMMAND [ARGUMENT…]",
    .summary = "run a command while holding a lock",
    .description =
        "Waits for the lock, runs the command, releases the lock and exits with the command's exit "
        "code, or 128 + n if signal n killed it.\n\n"
        "The lock is a lease that is renewed while the command runs. If the store cannot be "
        "reached, the command is ended before the lease is, and so before anybody else can be "
        "granted the lock: SIGTERM, then SIGKILL --kill-after later. If the store itself lost the "
        "lock (its data were lost, a replica without them took over, or somebody forced the "
        "release), the same begins as soon as holdfast learns of it, at the next renewal at the "
        "latest. Both end with exit code 77.\n\n"
        "The command is a process group of its own, has the terminal, and gets the signals that "
        "holdfast gets. HOLDFAST_NAME, HOLDFAST_FENCE and HOLDFAST_OWNER are in its environment. "
        "If holdfast is killed, so is the command with its whole group, and the lock is free when "
        "its ttl ends. A job that is stopped with Ctrl-Z does not renew its lease: the command is "
        "killed when the lease ends, unless the job is continued before.",
    .examples = run_cmd::examples,
    .declare = run_cmd::declare,
    .takes_command = true};

}  // namespace holdfast::cli
