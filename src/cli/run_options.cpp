// SPDX-License-Identifier: Apache-2.0
#include "cli/run_options.hpp"

#include "cli/options.hpp"
#include "text/duration.hpp"
#include "text/quote.hpp"

#include <fmt/format.h>

namespace holdfast::cli {

namespace {

Result<OnLost> parse_on_lost(const std::string& word, bool may_ignore) {
  if (word == "term") return OnLost::term;
  if (word == "kill") return OnLost::kill;
  if (word == "ignore" && may_ignore) return OnLost::ignore;
  return fail(Errc::bad_input, fmt::format("{} must be {}", text::quoted(word),
                                           may_ignore ? "term, kill or ignore" : "term or kill"));
}

}  // namespace

void add_run_options(Syntax& syntax, RunOptions& options, bool may_ignore) {
  add_duration(syntax, "--ttl", options.ttl,
               "How long the lock outlives holdfast if it is killed; renewed while the command "
               "runs (default 30s)");
  add_duration(syntax, "--max-hold", options.max_hold,
               "Stop renewing after this long, so that a command that hangs loses the lock");
  const auto read_on_lost = [&options, may_ignore](const std::string& word) -> Result<void> {
    const auto on_lost = parse_on_lost(word, may_ignore);
    if (!on_lost) return std::unexpected(on_lost.error());
    options.on_lost = *on_lost;
    return {};
  };
  syntax.option("--on-lost", read_on_lost, may_ignore ? "term|kill|ignore" : "term|kill",
                may_ignore
                    ? "What the command gets when the lock is lost: term (SIGTERM, then SIGKILL; "
                      "the default), kill (SIGKILL), or ignore (it goes on without the lock)"
                    : "What the command gets when leadership is lost: term (SIGTERM, then SIGKILL; "
                      "the default) or kill (SIGKILL)");
  add_duration(syntax, "--kill-after", options.kill_after,
               "How long after SIGTERM the command gets SIGKILL (default: a sixth of the ttl)");
  syntax.option("--note", &options.note, "TEXT", "Shown to operators beside the holder");
  syntax.flag("--keep-child", &options.keep_child,
              "Leave the command running if holdfast itself is killed");
}

Result<LadderOptions> ladder_options(const RunOptions& options, Duration ttl) {
  const auto kill_after = options.kill_after.value_or(ttl / 6);
  if (kill_after > ttl / 2) {
    const auto most = std::chrono::floor<std::chrono::milliseconds>(ttl / 2);
    return fail(Errc::bad_input,
                fmt::format("--kill-after must be at most half of the ttl, {}; give a longer --ttl",
                            text::format_duration(most)));
  }
  return LadderOptions{.on_lost = options.on_lost,
                       .kill_after = kill_after,
                       .margin = kill_margin(ttl),
                       .refresh = ttl / 6};
}

AcquireOptions acquire_options(const RunOptions& options, Duration ttl,
                               const std::string& program) {
  return {.ttl = ttl,
          .max_hold = options.max_hold.value_or(Duration::zero()),
          .note = options.note.empty() ? program : options.note};
}

}  // namespace holdfast::cli
