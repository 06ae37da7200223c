// SPDX-License-Identifier: Apache-2.0
#include "cli/command.hpp"
#include "cli/look/warnings.hpp"
#include "cli/options.hpp"
#include "cli/process/attend.hpp"
#include "cli/process/held_above.hpp"
#include "cli/process/prepare.hpp"
#include "cli/process/supervisor.hpp"
#include "cli/process/take.hpp"
#include "runtime/process_info.hpp"
#include "text/quote.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <optional>

namespace holdfast::cli {
namespace elect_cmd {
namespace {

struct Arguments {
  std::string name;
  std::string value;
  RunOptions run;
};

class Candidate {
 public:
  Candidate(Context& context, const Arguments& arguments, LadderOptions ladder, Duration ttl)
      : context_(context), arguments_(arguments), ladder_(ladder), ttl_(ttl) {}

  Result<int> run(const Client& client, const std::string& program) {
    while (true) {
      auto lease = campaign(client);
      if (!lease) return std::unexpected(std::move(lease.error()));
      report("leads", {{"fence", lease->fence()}});
      Terminal terminal;
      Supervisor supervisor(signals_, terminal, options());
      std::span<Lease> leases(&*lease, 1);
      const auto ending = supervisor.run(launch_under(leases, context_, program), leases);
      // Who was told to end does not stand for election again.
      if (ending && ending->lost && ending->told) die_by(*ending->told);
      if (ending && ending->lost) continue;
      (void)lease->release();
      return ending ? ending->exit_code : cli::report(context_.console, ending.error());
    }
  }

  const Signals& signals() const { return signals_; }

 private:
  // Waits for ever in pieces of the longest wait there is; each of them outlives a store that goes
  // away for a while.
  Result<Lease> campaign(const Client& client) {
    auto options = acquire_options(arguments_.run, ttl_, context_.command_line.front());
    options.wait = max_wait;
    Result<Lease> lease = fail(Errc::cancelled, "the campaign was cancelled");
    auto election = client.election(arguments_.name);
    const auto signal = attend(signals_, {}, [&](const std::stop_token& stop) {
      do {
        lease = election.campaign(arguments_.value, options, stop, std::source_location{});
      } while (must_try_again(lease) && !stop.stop_requested());
    });
    if (!signal) return lease;
    if (lease) (void)lease->release();
    die_by(*signal);
  }

  // As in `run`: a command wants the whole ttl, not the short claim of a hand-over.
  bool must_try_again(Result<Lease>& lease) const {
    if (!lease) return lease.error().code == Errc::timed_out;
    if (lease->remaining() > ttl_ / 2 || lease->extend(ttl_)) return false;
    // Given back before it is asked for again, or it would stand in its own way.
    lease = fail(Errc::lost, "leadership could not be confirmed");
    return true;
  }

  Supervisor::Options options() {
    return {.ladder = ladder_,
            .keep_child = arguments_.run.keep_child,
            .on_loss = [this](const std::string& why) {
              report("lost", {{"message", why}});
              if (context_.console.json()) return;
              context_.console.error(
                  {Errc::lost, fmt::format("leadership lost: {}; the command is ended, and run "
                                           "again when leadership returns",
                                           why)});
            }};
  }

  void report(std::string_view event, boost::json::object more) {
    more["event"] = event;
    more["name"] = arguments_.name;
    context_.console.event(more);
    if (event == "leads" && !context_.console.json()) {
      context_.console.detail(fmt::format("leads {}", text::quoted(arguments_.name)));
    }
  }

  Context& context_;
  const Arguments& arguments_;
  const LadderOptions ladder_;
  const Duration ttl_;
  const Signals signals_;
};

Result<int> elect(Context& context, Arguments& arguments) {
  const auto prepared = prepare(context, arguments.run);
  if (!prepared) return std::unexpected(prepared.error());
  if (!prepared->program) return report(context.console, prepared->program.error());
  const auto self = runtime::this_process();
  if (arguments.value.empty()) arguments.value = fmt::format("{}:{}", self->host, self->pid);
  const WarningsAsDetails our_own_words(context.console);
  Candidate candidate(context, arguments, prepared->ladder, prepared->ttl);
  auto store = open_attended(context, candidate.signals());
  if (!store) return std::unexpected(std::move(store.error()));
  if (auto good = refuse_to_wait_for_ourselves(store->client, {arguments.name}, {}); !good) {
    return std::unexpected(std::move(good.error()));
  }
  return candidate.run(store->client, *prepared->program);
}

Action declare(Syntax& syntax) {
  const auto arguments = std::make_shared<Arguments>();
  add_name(syntax, arguments->name);
  syntax.option("--value", &arguments->value, "TEXT",
                "What everybody sees of the leader, such as its address (default: HOST:PID)");
  add_run_options(syntax, arguments->run, false);
  return [arguments](Context& context) { return elect(context, *arguments); };
}

constexpr Example examples[] = {
    {"holdfast elect scheduler --value http://$(hostname):8080 -- ./scheduler",
     "One scheduler among all machines that run this line."},
    {"holdfast status scheduler", "Who leads, and who stands ready?"},
};

}  // namespace
}  // namespace elect_cmd

extern const Command elect_command;
const Command elect_command{
    .name = "elect",
    .arguments = "NAME -- COMMAND [ARGUMENT…]",
    .summary = "run a command while being the leader",
    .description =
        "Waits to become the leader of an election, and runs the command while it is. If "
        "leadership is lost, the command is ended as 'holdfast run' does it, before anybody else "
        "can lead where the store makes that possible; holdfast then stands for election again, "
        "and runs the command again when leadership returns. A store that goes away meanwhile is "
        "waited for.\n\n"
        "If the command ends by itself, holdfast resigns and exits with its exit code.",
    .examples = elect_cmd::examples,
    .declare = elect_cmd::declare,
    .takes_command = true};

}  // namespace holdfast::cli
