// SPDX-License-Identifier: Apache-2.0
#include "cli/command.hpp"
#include "cli/n8n/subcommands.hpp"
#include "cli/suggest.hpp"
#include "text/quote.hpp"
#include "text/url.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <vector>

namespace holdfast::cli {
namespace n8n_cmd {
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

Action declare(Syntax& syntax) {
  const auto word = std::make_shared<std::string>();
  syntax
      .positional("SUBCOMMAND", word.get(), "One of those above",
                  fmt::format("{}", fmt::join(words_behind(), "|")))
      .required();
  return [word](Context&) { return refuse(*word); };
}

constexpr Example examples[] = {{"holdfast n8n create-lock workflows --env production.yml",
                                 "The workflows that lock and unlock."},
                                {"holdfast n8n add-lock --help", "What a subcommand does."}};

}  // namespace
}  // namespace n8n_cmd

extern const Command n8n_command;
const Command n8n_command{.name = "n8n",
                          .arguments = "SUBCOMMAND …",
                          .summary = "locks and rate limits for the workflows of n8n",
                          .description =
                              "Writes and changes workflows of n8n so that they lock and limit "
                              "their rates, and looks for "
                              "mistakes in those that do.",
                          .examples = n8n_cmd::examples,
                          .declare = n8n_cmd::declare};

}  // namespace holdfast::cli
