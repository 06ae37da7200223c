// SPDX-License-Identifier: Apache-2.0
#include "cli/run_options.hpp"

#include "cli/options.hpp"
#include "text/duration.hpp"
#include "text/quote.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <map>

namespace holdfast::cli {

void add_run_options(CLI::App& app, RunOptions& options, bool may_ignore) {
  add_duration(app, "--ttl", options.ttl,
               "How long the lock outlives holdfast if it is killed; renewed while the command "
               "runs (default 30s)");
  add_duration(app, "--max-hold", options.max_hold,
               "Stop renewing after this long, so that a command that hangs loses the lock");
  app.add_option_function<std::string>(
         "--on-lost",
         [&options, may_ignore](const std::string& word) {
           static const std::map<std::string, OnLost, std::less<>> words{
               {"term", OnLost::term}, {"kill", OnLost::kill}, {"ignore", OnLost::ignore}};
           const auto found = words.find(word);
           if (found == words.end() || (found->second == OnLost::ignore && !may_ignore)) {
             throw CLI::ValidationError(
                 "--on-lost", fmt::format("{} must be {}", text::quoted(word),
                                          may_ignore ? "term, kill or ignore" : "term or kill"));
           }
           options.on_lost = found->second;
         },
         may_ignore ? "What the command gets when the lock is lost: term (SIGTERM, then SIGKILL; "
                      "the default), kill (SIGKILL), or ignore (it goes on without the lock)"
                    : "What the command gets when leadership is lost: term (SIGTERM, then SIGKILL; "
                      "the default) or kill (SIGKILL)")
      ->type_name(may_ignore ? "term|kill|ignore" : "term|kill");
  add_duration(app, "--kill-after", options.kill_after,
               "How long after SIGTERM the command gets SIGKILL (default: a sixth of the ttl)");
  app.add_option("--note", options.note, "Shown to operators beside the holder")->type_name("TEXT");
  app.add_flag("--keep-child", options.keep_child,
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
