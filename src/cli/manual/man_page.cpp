// SPDX-License-Identifier: Apache-2.0
#include "cli/manual/man_page.hpp"

#include "cli/commands/commands.hpp"
#include "cli/declared.hpp"
#include "cli/manual/reference.hpp"
#include "cli/manual/roff.hpp"

#include <fmt/format.h>

#include <vector>

namespace holdfast::cli {
namespace {

constexpr std::string_view what_it_is =
    "Locks by name, with leases and fences, for cron jobs, deploy scripts and operators, on one "
    "machine without any server or on many that share a store. A lock that is lost is noticed, and "
    "what ran under it is stopped.\n\n"
    "The options below stand before or behind the command. The store is named by --store, by "
    "HOLDFAST_STORE or by a configuration file, in this order; without any of them it is file:, a "
    "folder on this machine.";

constexpr std::string_view what_a_duration_is =
    "A DURATION is one integer and one unit (ms, s, m, h, d), such as 90s.";

void name_section(RoffPage& page, std::string_view name, std::string_view summary) {
  page.section("NAME");
  page.raw(fmt::format("{} \\- {}", roff_escaped(name), roff_escaped(summary)));
}

void synopsis_section(RoffPage& page, std::string_view head, std::string_view rest) {
  page.section("SYNOPSIS");
  page.raw(fmt::format("\\fB{}\\fR {}", roff_escaped(head), roff_escaped(rest)));
}

void options_of(RoffPage& page, const std::vector<DeclaredOption>& options) {
  for (const auto& option : options) page.item(synopsis(option), option.text);
}

bool has_duration(const Declared& parts) {
  for (const auto& option : parts.options) {
    if (option.value.word == "DURATION") return true;
  }
  return false;
}

void options_section(RoffPage& page, const Declared& parts) {
  if (!parts.arguments.empty()) {
    page.section("ARGUMENTS");
    for (const auto& argument : parts.arguments) page.item(argument.name, argument.text);
  }
  page.section("OPTIONS");
  if (has_duration(parts)) page.paragraphs(what_a_duration_is);
  options_of(page, parts.options);
  if (!parts.options.empty()) page.subsection("Options of every command");
  options_of(page, common_options());
}

void facts_section(RoffPage& page, std::string_view title, const std::vector<Fact>& facts) {
  page.section(title);
  for (const auto& fact : facts) {
    page.item(fact.word.empty() ? fact.head : fmt::format("{} {}", fact.head, fact.word),
              fact.text);
  }
}

void environment_section(RoffPage& page, bool runs_under_locks) {
  facts_section(page, "ENVIRONMENT", variables_read());
  if (!runs_under_locks) return;
  page.subsection("In the environment of the command");
  for (const auto& fact : variables_set()) page.item(fact.head, fact.text);
}

void examples_section(RoffPage& page, const Command& command) {
  if (command.examples.empty()) return;
  page.section("EXAMPLES");
  bool is_first = true;
  for (const auto& example : command.examples) {
    if (!is_first) page.raw(".PP");
    is_first = false;
    page.raw(roff_escaped(example.meaning));
    page.literal(example.line);
  }
}

// The pages of all other commands.
void see_also_section(RoffPage& page, const Command* self) {
  std::vector<std::string> pages;
  if (self != nullptr) pages.emplace_back("holdfast");
  for (const auto* command : shown_commands()) {
    if (command != self) pages.push_back(page_name(*command));
  }
  page.section("SEE ALSO");
  for (const auto& each : pages) {
    page.raw(fmt::format(".BR {} (1){}", roff_escaped(each), &each == &pages.back() ? "" : ","));
  }
}

}  // namespace

std::string overview_page(std::string_view date) {
  RoffPage page("holdfast", date);
  name_section(page, "holdfast", "locks for every machine, honest about their loss");
  synopsis_section(page, "holdfast", "COMMAND [OPTIONS] …");
  page.section("DESCRIPTION");
  page.paragraphs(what_it_is);
  page.section("COMMANDS");
  for (const auto* command : shown_commands()) {
    page.item(page_name(*command) + "(1)", command->summary);
  }
  page.section("OPTIONS");
  options_of(page, options_without_command());
  facts_section(page, "EXIT STATUS", exit_codes(true));
  environment_section(page, true);
  facts_section(page, "FILES", files());
  see_also_section(page, nullptr);
  return std::move(page).finish();
}

std::string man_page(const Command& command, std::string_view date) {
  RoffPage page(page_name(command), date);
  name_section(page, page_name(command), command.summary);
  synopsis_section(page, fmt::format("holdfast {}", command.name),
                   synopsis(command).substr(sizeof("holdfast ") + command.name.size()));
  page.section("DESCRIPTION");
  page.paragraphs(command.description);
  if (const auto subcommands = subcommands_of(command); !subcommands.empty()) {
    page.section("SUBCOMMANDS");
    for (const auto* each : subcommands) page.item(page_name(*each) + "(1)", each->summary);
  }
  options_section(page, declared(command));
  examples_section(page, command);
  facts_section(page, "EXIT STATUS", exit_codes(command.takes_command));
  environment_section(page, command.takes_command && !command.may_lack_command);
  facts_section(page, "FILES", files());
  see_also_section(page, &command);
  return std::move(page).finish();
}

}  // namespace holdfast::cli
