// SPDX-License-Identifier: Apache-2.0
#include <holdfast/client.hpp>

#include "cli/command.hpp"

#include <boost/json/array.hpp>
#include <fmt/format.h>

namespace holdfast::cli {
namespace version_cmd {
namespace {

std::string compiler() {
#if defined(__clang__)
  return fmt::format("Clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#elif defined(__GNUC__)
  return fmt::format("GCC {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#else
  return "unknown";
#endif
}

Result<int> version(Context& context) {
  std::string known;
  boost::json::array schemes;
  for (const auto scheme : store_schemes()) {
    known += fmt::format("{}{}:", known.empty() ? "" : " ", scheme);
    schemes.emplace_back(scheme);
  }
  context.console.print(fmt::format("holdfast {}", HOLDFAST_VERSION));
  context.console.print(fmt::format("compiler  {}", compiler()));
  context.console.print(fmt::format("stores    {}", known));
  context.console.print(
      {{"version", HOLDFAST_VERSION}, {"compiler", compiler()}, {"stores", std::move(schemes)}});
  return 0;
}

constexpr Example examples[] = {{"holdfast version", "Which version is this?"},
                                {"holdfast version --json | jq -r .version", "For a script."}};

}  // namespace
}  // namespace version_cmd

extern const Command version_command;
const Command version_command{
    .name = "version",
    .arguments = "",
    .summary = "print the version",
    .description =
        "Prints the version of holdfast on the first line, then the compiler that built it and the "
        "stores that it knows. 'holdfast --version' is the same.",
    .examples = version_cmd::examples,
    .declare = [](Syntax&) -> Action { return version_cmd::version; }};

}  // namespace holdfast::cli
