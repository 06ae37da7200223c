// SPDX-License-Identifier: Apache-2.0
#include "cli/command.hpp"
#include "cli/confirm.hpp"
#include "cli/look/display.hpp"
#include "cli/look/lock_text.hpp"
#include "cli/look/warnings.hpp"
#include "cli/options.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

namespace holdfast::cli {
namespace force_release_cmd {
namespace {

struct Arguments {
  std::string name;
  std::string reason;
  bool yes = false;
};

// One line for each holder, as it stands in a question and in the report.
std::string losers(const LockView& lock) {
  std::string out;
  for (const auto& holder : lock.holders) {
    const auto note = holder.metadata ? cleaned(holder.metadata->note) : std::string();
    out += fmt::format("  {}, held for {}, {} left{}\n", who_exactly(holder.metadata),
                       readable(holder.held_for), readable(holder.remaining),
                       note.empty() ? "" : ": " + note);
  }
  return out;
}

bool is_among(const HolderView& holder, const LockView& seen) {
  return std::ranges::find(seen.holders, holder.fence, &HolderView::fence) != seen.holders.end();
}

Result<void> ask(const Client& client, const LockView& lock) {
  (void)write_all(STDERR_FILENO,
                  fmt::format("'{}' would be taken from\n{}", cleaned(lock.name), losers(lock)));
  if (!confirmed_by_user("Take it away?")) return fail(Errc::cancelled, "nothing changed");
  // The yes was about those who were shown, and a person takes time to answer.
  const auto now = client.inspect(lock.name);
  if (!now) return std::unexpected(now.error());
  const auto is_known = [&](const HolderView& holder) { return is_among(holder, lock); };
  if (std::ranges::all_of(now->holders, is_known)) return {};
  return fail(Errc::cancelled,
              fmt::format("'{}' changed hands in the meantime; nothing changed", lock.name));
}

Result<int> force_release(Context& context, const Arguments& arguments) {
  const WarningsAsDetails warnings(context.console);
  const bool must_ask = !arguments.yes;
  if (must_ask && (context.console.json() || !can_ask())) {
    return fail(Errc::bad_input,
                "there is nobody to ask whether to take the lock away; say --yes if you are sure");
  }
  if (arguments.reason.empty()) {
    return fail(Errc::bad_input, "--reason must not be empty; say why, for those who look later");
  }
  auto client = context.open_store();
  if (!client) return std::unexpected(std::move(client.error()));
  const auto lock = client->inspect(arguments.name);
  if (!lock) return std::unexpected(lock.error());
  if (lock->holders.empty()) {
    return fail(Errc::not_held, fmt::format("'{}' is not held; nothing changed", arguments.name));
  }
  if (must_ask) {
    if (auto asked = ask(*client, *lock); !asked) return std::unexpected(asked.error());
  }
  const auto count = client->force_release(arguments.name, arguments.reason);
  if (!count) return std::unexpected(count.error());
  context.console.print(
      {{"name", arguments.name}, {"released", *count}, {"reason", arguments.reason}});
  context.console.print(fmt::format("'{}' was taken from {} {}", cleaned(arguments.name), *count,
                                    *count == 1 ? "holder" : "holders"));
  return 0;
}

Action declare(Syntax& syntax) {
  const auto arguments = std::make_shared<Arguments>();
  add_name(syntax, arguments->name);
  syntax.option("--reason", &arguments->reason, "TEXT", "Why, in a few words; must be given")
      .required();
  syntax.flag("-y,--yes", &arguments->yes,
              "Do not ask; needed where there is no terminal, and with --json");
  return [arguments](Context& context) { return force_release(context, *arguments); };
}

constexpr Example examples[] = {
    {"holdfast force-release deploy --reason 'web-1 burnt down'",
     "Shows who would lose it, and asks."},
    {"holdfast force-release deploy --yes --reason 'cleaning up'", "For a script: does not ask."}};

}  // namespace
}  // namespace force_release_cmd

extern const Command force_release_command;
const Command force_release_command{
    .name = "force-release",
    .arguments = "NAME",
    .summary = "take a lock away from whoever holds it",
    .description =
        "Takes the lock from all of its holders, without their consent, and hands it to the next "
        "in line. A holder learns of it at its next renewal; until then it goes on working beside "
        "the next one, unless the resource checks fences, which are larger from now on. Prefer to "
        "wait for the end of the lease, or to stop the holder.\n\n"
        "On a terminal it shows who would lose the lock and asks; everything but y or yes changes "
        "nothing and exits with 85. Without a terminal it needs --yes. If nobody holds the lock, "
        "the exit code is 82.",
    .examples = force_release_cmd::examples,
    .declare = force_release_cmd::declare};

}  // namespace holdfast::cli
