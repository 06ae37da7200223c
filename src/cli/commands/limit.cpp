// SPDX-License-Identifier: Apache-2.0
#include "cli/command.hpp"
#include "cli/look/display.hpp"
#include "cli/look/lock_text.hpp"
#include "cli/look/warnings.hpp"
#include "cli/options.hpp"
#include "cli/process/attend.hpp"
#include "cli/process/child.hpp"
#include "cli/process/prepare.hpp"
#include "cli/process/take.hpp"
#include "cli/process/waiting_line.hpp"
#include "client/options_check.hpp"
#include "text/duration.hpp"
#include "text/error_codes.hpp"
#include "text/rate.hpp"

#include <fmt/format.h>

#include <memory>
#include <optional>

namespace holdfast::cli {
namespace limit_cmd {
namespace {

struct Arguments {
  std::string scope;
  std::string rate;
  std::string algorithm;
  std::string layout;
  std::optional<std::uint32_t> burst;
  std::uint32_t cost = 1;
  std::optional<Duration> wait;
  bool no_wait = false;
  bool peek = false;
  bool reset = false;
};

struct Wanted {
  RateRule rule;
  Duration wait{};
};

std::string ms_text(Duration time) {
  return text::format_duration(std::chrono::ceil<std::chrono::milliseconds>(time));
}

// The rules name their fields; limit and window are both in --rate.
std::string option_of(const std::string& message) {
  const bool is_rate = message.starts_with("limit") || message.starts_with("window");
  return (is_rate ? "--rate: " : "--") + message;
}

Result<Wanted> read(const Arguments& arguments, const Context& context, const Settings& settings) {
  const auto rate = text::parse_rate(arguments.rate);
  if (!rate) return fail(Errc::bad_input, "--rate: " + rate.error().message);
  if (arguments.burst == 0U) return fail(Errc::bad_input, "--burst must be at least 1");
  const auto rule = text::make_rule(*rate, {.algorithm = arguments.algorithm,
                                            .layout = arguments.layout,
                                            .burst = arguments.burst.value_or(0)});
  if (!rule) return fail(Errc::bad_input, option_of(rule.error().message));
  const bool has_command = !context.command_line.empty();
  if (has_command && (arguments.peek || arguments.reset)) {
    return fail(Errc::bad_input, "--peek and --reset run no command; leave it out");
  }
  // Without a command there is nothing to wait for, unless somebody says so.
  auto wait = arguments.wait;
  if (!wait && has_command) wait = settings.wait.value.value_or(max_wait);
  if (arguments.no_wait) wait = Duration::zero();
  if (auto good = client::check_wait(wait.value_or(Duration::zero())); !good) {
    return fail(Errc::bad_input, "--" + good.error().message);
  }
  return Wanted{*rule, wait.value_or(Duration::zero())};
}

std::string describe(const RateOutcome& outcome) {
  const auto used = fmt::format("{} of {} used", outcome.count, outcome.limit);
  if (!outcome.allowed) {
    return fmt::format("denied: {}; allowed in {}", used, ms_text(outcome.retry_after));
  }
  return fmt::format("allowed: {}, {} left", used, outcome.remaining);
}

int print(Console& console, const std::string& scope, const RateOutcome& outcome) {
  console.print(text::to_json(scope, outcome));
  console.print(describe(outcome));
  return outcome.allowed ? 0 : text::exit_code(Errc::busy);
}

// A signal that ends a program ends this one, and the command is not run. What was just being asked
// may have been counted.
Result<RateOutcome> wait_attended(const RateLimit& limit, const Arguments& arguments, Duration wait,
                                  const Console& console, const Signals& signals) {
  Result<RateOutcome> outcome = fail(Errc::cancelled, "the wait was cancelled");
  WaitingLine line(console);
  Attention attention;
  if (line.is_active()) {
    attention.tick = [&] {
      const auto seen = limit.peek(arguments.cost);
      const auto when = seen ? fmt::format(", {}", describe(*seen)) : "";
      line.show(fmt::format("waiting for a turn of '{}' ({}){}", cleaned(arguments.scope),
                            arguments.rate, when));
    };
  }
  const auto signal = attend(signals, attention, [&](const std::stop_token& stop) {
    outcome = limit.take(wait, arguments.cost, stop);
  });
  line.wipe();
  if (signal) die_by(*signal);
  return outcome;
}

// A store on this machine answers so quickly that nobody need be able to interrupt the first try.
Result<RateOutcome> take(const OpenStore& store, const RateLimit& limit, const Arguments& arguments,
                         Duration wait, const Console& console, const Signals& signals) {
  if (store.is_local) {
    auto outcome = limit.take(Duration::zero(), arguments.cost);
    if (outcome || wait == Duration::zero()) return outcome;
    const auto code = outcome.error().code;
    if (code != Errc::busy && code != Errc::unavailable) return outcome;
  }
  return wait_attended(limit, arguments, wait, console, signals);
}

// What is printed where there is no command.
Result<int> ask(const RateLimit& limit, const Arguments& arguments, Console& console) {
  if (arguments.reset) {
    if (auto done = limit.reset(); !done) return std::unexpected(std::move(done.error()));
    console.print({{"scope", arguments.scope}, {"reset", true}});
    console.print("reset");
    return 0;
  }
  const auto outcome = arguments.peek ? limit.peek(arguments.cost) : limit.check(arguments.cost);
  if (!outcome) return std::unexpected(outcome.error());
  return print(console, arguments.scope, *outcome);
}

// Asks, and has let go of the store and the signals when it returns: what comes next may be another
// program. Returns the exit code, or nothing if it is the command's turn.
Result<std::optional<int>> have_turn(Context& context, const Arguments& arguments,
                                     const Wanted& wanted) {
  const WarningsAsDetails our_own_words(context.console);
  const Signals signals;
  auto store = open_attended(context, signals);
  if (!store) return std::unexpected(std::move(store.error()));
  const auto limit = store->client.rate_limit(arguments.scope, wanted.rule);
  const bool only_looks = arguments.peek || arguments.reset;
  const bool has_command = !context.command_line.empty();
  if (only_looks || (!has_command && wanted.wait == Duration::zero())) {
    return ask(limit, arguments, context.console);
  }
  const auto outcome = take(*store, limit, arguments, wanted.wait, context.console, signals);
  if (!outcome) return std::unexpected(outcome.error());
  if (!has_command) return print(context.console, arguments.scope, *outcome);
  context.console.detail(describe(*outcome));
  auto event = text::to_json(arguments.scope, *outcome);
  event["event"] = "allowed";
  context.console.event(event);
  return std::nullopt;
}

Result<int> limit(Context& context, const Arguments& arguments) {
  auto settings = context.settings();
  if (!settings) return std::unexpected(std::move(settings.error()));
  const auto wanted = read(arguments, context, *settings);
  if (!wanted) return std::unexpected(wanted.error());
  std::expected<std::string, NoProgram> program;
  if (!context.command_line.empty()) program = find_program(context.command_line.front());
  if (!program) return report(context.console, program.error());
  const auto code = have_turn(context, arguments, *wanted);
  if (!code) return std::unexpected(code.error());
  if (*code) return **code;
  const int failure = become(*program, context.command_line);
  return report(context.console, cannot_run(context.command_line.front(), failure));
}

Action declare(Syntax& syntax) {
  const auto arguments = std::make_shared<Arguments>();
  syntax.positional("SCOPE", &arguments->scope, "What is limited, such as an API or a user")
      .required();
  syntax
      .option("--rate", &arguments->rate, "RATE",
              "How often: a number, a slash and a time, such as 10/s, 100/5m or 5/100ms")
      .required();
  syntax.option("--burst", &arguments->burst, "N",
                "How many may come at once; makes it a token_bucket (default: the number of "
                "--rate)");
  syntax.option("--algorithm", &arguments->algorithm, "fixed_window|sliding_window|token_bucket",
                "How hits are counted (default: sliding_window; token_bucket with --burst)");
  syntax.option("--layout", &arguments->layout, "native|n8n|redisx",
                "Count in the keys of another program, on a Redis shared with it; "
                "makes it a fixed_window (default: native)");
  syntax.option("--cost", &arguments->cost, "N", "How many hits this is (default 1)");
  auto& wait = add_duration(syntax, "-w,--wait", arguments->wait,
                            "Give up after this long (default: wait of config.yml, or 24h; "
                            "without a command: at once)");
  auto& no_wait = syntax.flag("-n,--no-wait", &arguments->no_wait, "Give up at once if denied");
  auto& peek = syntax.flag("--peek", &arguments->peek, "Only look; count nothing");
  auto& reset = syntax.flag("--reset", &arguments->reset, "Forget what was counted");
  wait.excludes(no_wait).excludes(peek).excludes(reset);
  no_wait.excludes(peek).excludes(reset);
  peek.excludes(reset);
  return [arguments](Context& context) { return limit(context, *arguments); };
}

constexpr Example examples[] = {
    {"holdfast limit mail-api --rate 10/s -- ./send-one.sh",
     "At most ten in any second, over all who share the store; the others wait for their turn."},
    {"holdfast limit import --rate 100/m --burst 5 --wait 30s -- ./import.sh",
     "Evenly, five at once at most; give up after 30 seconds."},
    {"holdfast limit alerts --rate 1/h && ./alert.sh",
     "Once an hour; whoever comes too early gets exit code 75 and does nothing."},
    {"holdfast limit mail-api --rate 10/s --peek --json", "What is left, without using it."},
};

}  // namespace
}  // namespace limit_cmd

extern const Command limit_command;
const Command limit_command{
    .name = "limit",
    .arguments = "SCOPE [-- COMMAND [ARGUMENT…]]",
    .summary = "run a command no more often than a rate allows",
    .description =
        "Waits until the rate of the scope allows it, counts it, and becomes the command: its exit "
        "code and the signals it gets are its own. Nothing is held while it runs; what is limited "
        "is how often it starts. For how many run at once, see 'holdfast run --permits'.\n\n"
        "Without a command it asks once and prints the outcome: exit code 0 if it was allowed (and "
        "has been counted), 75 if it was denied. With --wait the exit code is 76 when the time is "
        "over, or as soon as it is known that it will not do. The longest wait is 24h.\n\n"
        "Everybody who uses a scope with the same algorithm and window is counted together, over "
        "all machines that share the store. sliding_window never allows more than the number in "
        "any window. token_bucket gives one back every window divided by the number, and lets "
        "--burst of them come at once. fixed_window counts from one multiple of the window to the "
        "next; around that moment twice the number may come.\n\n"
        "If the store's answer is lost, the exit code is 80: it may have been counted, the command "
        "is not run, and nothing is repeated.",
    .examples = limit_cmd::examples,
    .declare = limit_cmd::declare,
    .takes_command = true,
    .may_lack_command = true};

}  // namespace holdfast::cli
