// SPDX-License-Identifier: Apache-2.0
#include "cli/command.hpp"
#include "cli/look/display.hpp"
#include "cli/look/warnings.hpp"
#include "cli/options.hpp"
#include "cli/process/guarded_run.hpp"
#include "cli/process/prepare.hpp"
#include "client/options_check.hpp"
#include "runtime/process_info.hpp"
#include "text/duration.hpp"
#include "text/error_codes.hpp"
#include "text/json.hpp"
#include "text/json_parse.hpp"

#include <boost/json/serialize.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <optional>

namespace holdfast::cli {
namespace once_cmd {
namespace {

using recipes::GuardedRun;
using std::chrono::milliseconds;

struct Arguments {
  std::string key;
  std::optional<Duration> window;
  std::optional<Duration> guard;
  std::optional<Duration> wait;
  std::optional<Duration> keep_failure;
  std::optional<Duration> kill_after;
  std::string fingerprint;
  TakeOver take_over = TakeOver::run;
  bool keep_child = false;
  int skipped_code = 0;
  int busy_code = text::exit_code(Errc::busy);
};

// What of them is in force.
struct Plan {
  LockName name;
  IdempotencyOptions options;
  LadderOptions ladder;
};

std::string in_words(Duration time) {
  return text::format_duration(std::chrono::floor<milliseconds>(time));
}

Result<void> check_range(std::string_view option, Duration value, Duration least, Duration most) {
  if (value >= least && value <= most) return {};
  return fail(Errc::bad_input, fmt::format("{} must be from {} to {}; got {}", option,
                                           in_words(least), in_words(most), in_words(value)));
}

Result<LadderOptions> ladder_for(const Arguments& arguments, Duration guard) {
  const auto kill_after = arguments.kill_after.value_or(guard / 6);
  if (kill_after > guard / 2) {
    return fail(Errc::bad_input,
                fmt::format("--kill-after must be at most half of the guard, {}; give a longer "
                            "--guard",
                            in_words(guard / 2)));
  }
  return LadderOptions{
      .kill_after = kill_after, .margin = kill_margin(guard), .refresh = guard / 6};
}

Result<Plan> plan_of(const Arguments& arguments) {
  auto name = recipes::run_name(arguments.key);
  if (!name) return fail(Errc::bad_input, "KEY: " + name.error().message);
  const IdempotencyOptions options{.fingerprint = arguments.fingerprint,
                                   .ttl = *arguments.window,
                                   .wait = arguments.wait.value_or(Duration::zero()),
                                   .guard = arguments.guard.value_or(default_guard),
                                   .keep_failure = arguments.keep_failure.value_or(Duration{}),
                                   .take_over = arguments.take_over};
  for (const auto& checked :
       {check_range("--for", options.ttl, min_answer_ttl, max_answer_ttl),
        check_range("--guard", options.guard, min_guard, max_guard),
        check_range("--wait", options.wait, Duration::zero(), max_wait),
        check_range("--keep-failure", options.keep_failure, Duration::zero(), max_answer_ttl)}) {
    if (!checked) return std::unexpected(checked.error());
  }
  if (arguments.fingerprint.size() > max_fingerprint_bytes) {
    return fail(Errc::bad_input,
                fmt::format("--fingerprint must have at most {} bytes", max_fingerprint_bytes));
  }
  auto ladder = ladder_for(arguments, options.guard);
  if (!ladder) return std::unexpected(std::move(ladder.error()));
  return Plan{std::move(*name), options, *ladder};
}

// What is kept of a command that has run, and told to those who come later.
Answer answer_now() {
  const auto now = std::chrono::floor<Micros>(std::chrono::system_clock::now());
  return {.body =
              boost::json::serialize(boost::json::object{{"exit_code", 0},
                                                         {"host", runtime::this_process()->host},
                                                         {"ended_at", text::format_time(now)}})};
}

std::string text_in(const boost::json::value& object, std::string_view field) {
  const auto* const all = object.if_object();
  const auto* const found = all != nullptr ? all->if_contains(field) : nullptr;
  const auto* const text = found != nullptr ? found->if_string() : nullptr;
  return text != nullptr ? std::string(*text) : std::string();
}

// What somebody else's program has kept under the key says nothing of a host or a time.
std::string when_and_where(const Answer& answer) {
  const auto parsed = text::parse_json(answer.body);
  if (!parsed) return {};
  const auto host = text_in(*parsed, "host");
  const auto ended_at = text_in(*parsed, "ended_at");
  return (host.empty() ? "" : " on " + cleaned(host)) +
         (ended_at.empty() ? "" : " at " + cleaned(ended_at));
}

// Why the command is not run.
int report_instead(Console& console, const Arguments& arguments, const model::RunOutcome& outcome) {
  const auto key = cleaned(arguments.key);
  const auto left = readable(outcome.remaining);
  const auto once = recipes::describe(outcome);
  console.event({{"event", "skipped"},
                 {"key", arguments.key},
                 {"why", to_string(once.ending)},
                 {"remaining_ms", std::chrono::floor<milliseconds>(outcome.remaining).count()}});
  // Nothing is wrong, so that --quiet is silent.
  const auto skip = [&](const std::string& sentence, int code) {
    if (!console.json()) console.note(sentence);
    return code;
  };
  const auto refuse = [&](const std::string& sentence, int code) {
    console.error(sentence, code);
    return code;
  };
  switch (once.ending) {
    case holdfast::Ending::replayed:
      return skip(fmt::format("'{}' has run{}; skipped for another {}", key,
                              when_and_where(outcome.answer), left),
                  arguments.skipped_code);
    case holdfast::Ending::in_progress:
      return skip(fmt::format("'{}' runs now, somewhere else", key), arguments.busy_code);
    case holdfast::Ending::failed_before:
      return skip(fmt::format("'{}' has failed: {}; it may be tried again in {}", key,
                              cleaned(outcome.failure), left),
                  arguments.busy_code);
    case holdfast::Ending::mismatch:
      return refuse(fmt::format("'{}' belongs to something else: the fingerprints differ", key),
                    text::exit_code(Errc::spec_mismatch));
    case holdfast::Ending::ran:
    case holdfast::Ending::unknown: break;
  }
  return refuse(fmt::format("'{}' was begun and never heard of again: it may or may not have run; "
                            "look, then say --take-over run",
                            key),
                text::exit_code(Errc::outcome_unknown));
}

Supervisor::Options supervision(const Arguments& arguments, const Plan& plan, Console& console) {
  return {
      .ladder = plan.ladder,
      .keep_child = arguments.keep_child,
      .on_loss = [&console](const std::string& why) {
        console.event({{"event", "lost"}, {"message", why}});
        if (console.json()) return;
        console.error({Errc::lost, fmt::format("the run is lost: {}; the command is ended", why)});
      }};
}

// Says the last word, and returns the exit code for how the command ended. One that was killed, or
// told to end, may have done half of its work: the next one is told so.
int conclude(Console& console, Run& run, const Ending& ending) {
  if (ending.lost) {
    // Nothing of whoever took over is overwritten; and if nobody did, it need not run again.
    const bool is_done = ending.exit_code == 0 && !ending.signal && !ending.told;
    if (is_done) static_cast<void>(run.complete(answer_now()));
    return text::exit_code(Errc::lost);
  }
  const bool may_be_half_done = ending.signal || (ending.told && ending.exit_code != 0);
  if (may_be_half_done) {
    static_cast<void>(run.abandon());
    return ending.exit_code;
  }
  if (ending.exit_code != 0) {
    const auto failed = run.fail(
        fmt::format("exit code {} on {}", ending.exit_code, runtime::this_process()->host));
    if (!failed) console.note("that it failed could not be kept: " + failed.error().message);
    return ending.exit_code;
  }
  const auto kept = run.complete(answer_now());
  if (kept) return 0;
  const auto sentence = fmt::format("it ran, but that could not be kept: {}", kept.error().message);
  console.error({kept.error().code, sentence});
  return text::exit_code(kept.error().code);
}

int run_it(Context& context, const Arguments& arguments, const Plan& plan,
           const std::shared_ptr<GuardedRun>& guarded, const std::string& program,
           const Signals& signals) {
  auto& console = context.console;
  console.event({{"event", "begun"},
                 {"key", arguments.key},
                 {"fence", guarded->fence()},
                 {"taken_over", guarded->took_over()}});
  Run run(guarded);
  Launch launch{
      .path = program,
      .words = context.command_line,
      .environment = environment_with(
          {"HOLDFAST_KEY=" + arguments.key, fmt::format("HOLDFAST_FENCE={}", guarded->fence()),
           fmt::format("HOLDFAST_TOOK_OVER={}", guarded->took_over() ? 1 : 0)})};
  Terminal terminal;
  Supervisor supervisor(signals, terminal, supervision(arguments, plan, console));
  const auto ending = supervisor.run(std::move(launch), std::vector<Hold>{hold_of(guarded)});
  if (!ending) {
    static_cast<void>(run.fail(ending.error().message));
    return report(console, ending.error());
  }
  const int code = conclude(console, run, *ending);
  console.event({{"event", "finished"},
                 {"exit_code", code},
                 {"signal", ending->signal ? boost::json::value(*ending->signal) : nullptr},
                 {"lost", ending->lost}});
  // An interactive shell looks at how a job ended: after Ctrl-C it leaves a loop, too.
  if (!ending->lost && ending->signal && terminal.exists() && isatty(STDIN_FILENO) == 1) {
    die_by(*ending->signal);
  }
  return code;
}

Result<int> once(Context& context, const Arguments& arguments) {
  auto settings = context.settings();
  if (!settings) return std::unexpected(std::move(settings.error()));
  const auto plan = plan_of(arguments);
  if (!plan) return std::unexpected(plan.error());
  const auto program = find_program(context.command_line.front());
  if (!program) return report(context.console, program.error());

  const WarningsAsDetails our_own_words(context.console);
  const Signals signals;
  auto store = open_attended(context, signals);
  if (!store) return std::unexpected(std::move(store.error()));
  const auto& core = store->client.core();
  auto terms = recipes::make_terms(*core, plan->options);
  if (!terms) return std::unexpected(std::move(terms.error()));
  const RunWanted wanted{plan->name, *terms, plan->options.wait};
  const auto beginning = begin_attended(*store, wanted, context.console, signals);
  if (!beginning) {
    if (recipes::may_pass(beginning.error())) take_back(*store, wanted);
    return std::unexpected(beginning.error());
  }
  if (!beginning->outcome.done) {
    return report_instead(context.console, arguments, beginning->outcome);
  }
  const auto guarded = GuardedRun::start(core, plan->name, *terms, true, *beginning);
  return run_it(context, arguments, *plan, guarded, *program, signals);
}

void add_take_over(Syntax& syntax, TakeOver& take_over) {
  const auto read = [&take_over](const std::string& word) -> Result<void> {
    if (word != "run" && word != "refuse") return fail(Errc::bad_input, "must be run or refuse");
    take_over = word == "run" ? TakeOver::run : TakeOver::refuse;
    return {};
  };
  syntax.option("--take-over", read, "run|refuse",
                "What to do where a run began and was never heard of again: run (the default; the "
                "command finds HOLDFAST_TOOK_OVER=1), or refuse (exit code 80)");
}

void add_codes(Syntax& syntax, Arguments& arguments) {
  syntax
      .option("--skipped-exit", &arguments.skipped_code, "CODE",
              "The exit code if it has run already (default 0)")
      .between(0, 255);
  syntax
      .option("-E,--busy-code", &arguments.busy_code, "CODE",
              "The exit code if it runs now somewhere else, or has failed a moment ago "
              "(default 75)")
      .between(0, 255);
}

Action declare(Syntax& syntax) {
  const auto arguments = std::make_shared<Arguments>();
  syntax.positional("KEY", &arguments->key, "What should happen once, such as a report and its day")
      .required();
  add_duration(syntax, "--for", arguments->window,
               "How long it is not run again, from its successful end on: 1s to 31d")
      .required();
  add_duration(syntax, "--guard", arguments->guard,
               "How long others wait for a sign of life before they take over; given while the "
               "command runs (default 30s)");
  add_duration(syntax, "-w,--wait", arguments->wait,
               "How long to wait for the end of one that runs now (default 0s)");
  add_duration(syntax, "--keep-failure", arguments->keep_failure,
               "How long nobody tries again after the command failed (default 0s)");
  syntax.option("--fingerprint", &arguments->fingerprint, "TEXT",
                "What exactly is done; the same key with another one is refused (exit code 81)");
  add_take_over(syntax, arguments->take_over);
  add_duration(syntax, "--kill-after", arguments->kill_after,
               "How long after SIGTERM a command whose run is lost gets SIGKILL (default: a sixth "
               "of the guard)");
  syntax.flag("--keep-child", &arguments->keep_child,
              "Leave the command running if holdfast itself is killed");
  add_codes(syntax, *arguments);
  return [arguments](Context& context) { return once(context, *arguments); };
}

constexpr Example examples[] = {
    {"holdfast once nightly-report --for 20h -- ./report.sh",
     "In the crontab of every machine that shares the store: it runs on one of them, once a "
     "night."},
    {"holdfast once bills:$(date +%F) --for 7d --take-over refuse -- ./send-bills",
     "Never twice for one day: if a machine died in the middle, somebody has to look first."},
    {"holdfast once migrate:42 --for 31d --wait 10m -- ./migrate 42",
     "Everybody waits until it is done, by whomever."},
    {"holdfast once warm-cache --for 10m --keep-failure 1m -E 0 -- ./warm",
     "After a failure nobody tries for a minute."},
};

}  // namespace
}  // namespace once_cmd

extern const Command once_command;
const Command once_command{
    .name = "once",
    .arguments = "KEY -- COMMAND [ARGUMENT…]",
    .summary = "run a command unless it has run already",
    .description =
        "Runs the command unless one with the same key has run in the last --for, on any machine "
        "that shares the store, and exits with its exit code. If it has, a line on standard error "
        "says where and when, and the exit code is 0 (--skipped-exit).\n\n"
        "The window begins when the command ends with exit code 0. If it fails, others may try "
        "again at once, or after --keep-failure. If it is killed by a signal, or this machine "
        "dies, "
        "nobody knows what it has done: the next one runs in its place and finds "
        "HOLDFAST_TOOK_OVER=1 in its environment, or is refused with --take-over refuse.\n\n"
        "While the command runs, others see a sign of life. If the store cannot be reached for "
        "that, the command is ended before another can take over, as 'holdfast run' does it, with "
        "exit code 77. HOLDFAST_KEY, HOLDFAST_FENCE and HOLDFAST_TOOK_OVER are in its environment; "
        "the fence is larger than that of every run of the key before.\n\n"
        "Exit codes beside the command's own: 75 if it runs now somewhere else (-E), 77 if the run "
        "was lost, 80 if it may or may not have run, 81 if the key belongs to something else.",
    .examples = once_cmd::examples,
    .declare = once_cmd::declare,
    .takes_command = true};

}  // namespace holdfast::cli
