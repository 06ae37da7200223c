// SPDX-License-Identifier: Apache-2.0
#include "cli/command.hpp"
#include "cli/n8n/subcommands.hpp"
#include "cli/suggest.hpp"
#include "text/quote.hpp"
#include "text/url.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <vector>

namespace holdfast::cli {
namespace {

std::vector<std::string> words_behind() {
  std::vector<std::string> out;
  for (const auto* each : n8n_subcommands()) {
    out.emplace_back(each->name.substr(each->name.find(' ') + 1));
  }
  return out;
}

// Those that are known never come here.
Result<int> refuse(const std::string& word) {
  auto hint = did_you_mean(word, words_behind());
  if (hint.empty()) hint = "; see 'holdfast n8n --help'";
  return fail(Errc::bad_input,
              fmt::format("unknown subcommand {}{}", text::quoted(text::masked(word)), hint));
}

Action declare(CLI::App& app) {
  const auto word = std::make_shared<std::string>();
  app.add_option("SUBCOMMAND", *word, "One of those above")
      ->required()
      ->type_name(fmt::format("{}", fmt::join(words_behind(), "|")));
  return [word](Context&) { return refuse(*word); };
}

constexpr Example examples[] = {{"holdfast n8n create-lock workflows --env production.yml",
                                 "The workflows that lock and unlock."},
                                {"holdfast n8n add-lock --help", "What a subcommand does."}};

}  // namespace

extern const Command n8n_command;
const Command n8n_command{.name = "n8n",
                          .arguments = "SUBCOMMAND …",
                          .summary = "locks and rate limits for the workflows of n8n",
                          .description =
                              "Writes and changes workflows of n8n so that they lock and limit "
                              "their rates, and looks for "
                              "mistakes in those that do.",
                          .examples = examples,
                          .declare = declare};

}  // namespace holdfast::cli
