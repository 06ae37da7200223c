// SPDX-License-Identifier: Apache-2.0
#include "cli/command.hpp"
#include "cli/commands/commands.hpp"
#include "cli/declared.hpp"
#include "cli/manual/man_page.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <memory>

namespace holdfast::cli {
namespace man_pages_cmd {
namespace {

// Today, or the day that a reproducible build sets.
std::string date() {
  std::time_t now = std::time(nullptr);
  if (const char* given = std::getenv("SOURCE_DATE_EPOCH"); given != nullptr) {
    const std::string_view text = given;
    std::from_chars(text.data(), text.data() + text.size(), now);
  }
  return fmt::format("{:%Y-%m-%d}", fmt::gmtime(now));
}

Result<void> write(const std::string& folder, std::string_view name, std::string_view page) {
  const auto path = fmt::format("{}/{}.1", folder, name);
  std::ofstream file(path, std::ios::binary);
  file << page << std::flush;
  if (!file) return fail(Errc::bad_input, fmt::format("{} cannot be written", path));
  return {};
}

Result<int> write_all_pages(const std::string& folder) {
  const auto today = date();
  if (auto done = write(folder, "holdfast", overview_page(today)); !done) {
    return std::unexpected(std::move(done.error()));
  }
  for (const auto* command : shown_commands()) {
    if (auto done = write(folder, page_name(*command), man_page(*command, today)); !done) {
      return std::unexpected(std::move(done.error()));
    }
  }
  return 0;
}

Action declare(Syntax& syntax) {
  const auto folder = std::make_shared<std::string>();
  syntax.positional("DIR", folder.get(), "An existing folder").required();
  return [folder](Context&) { return write_all_pages(*folder); };
}

}  // namespace
}  // namespace man_pages_cmd

extern const Command man_pages_command;
const Command man_pages_command{
    .name = "man-pages",
    .arguments = "DIR",
    .summary = "write the man pages",
    .description = "Writes holdfast.1 and a page for each command into the folder.",
    .examples = {},
    .declare = man_pages_cmd::declare,
    .hidden = true};

}  // namespace holdfast::cli
