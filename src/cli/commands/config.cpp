// SPDX-License-Identifier: Apache-2.0
#include "cli/command.hpp"
#include "text/duration.hpp"
#include "text/url.hpp"

#include <boost/json/array.hpp>
#include <fmt/format.h>

namespace holdfast::cli {
namespace config_cmd {
namespace {

namespace json = boost::json;
using std::chrono::milliseconds;

milliseconds ms(Duration duration) { return std::chrono::duration_cast<milliseconds>(duration); }

json::object as_json(const Settings& settings) {
  json::array files;
  for (const auto& file : settings.files) {
    files.push_back(json::object{{"path", file.path}, {"found", file.found}});
  }
  json::value wait;
  if (settings.wait.value) wait = ms(*settings.wait.value).count();
  json::value profile;
  if (!settings.profile.value.empty()) {
    profile = {{"value", settings.profile.value}, {"from", settings.profile.origin}};
  }
  return {
      {"store", {{"value", text::masked(settings.store.value)}, {"from", settings.store.origin}}},
      {"ttl", {{"value_ms", ms(settings.ttl.value).count()}, {"from", settings.ttl.origin}}},
      {"wait", {{"value_ms", wait}, {"from", settings.wait.origin}}},
      {"profile", profile},
      {"files", files}};
}

void show(Console& console, const Settings& settings) {
  const auto store = text::masked(settings.store.value);
  const auto width = std::max(store.size(), std::size_t{24});
  const auto line = [&](std::string_view name, std::string_view value, std::string_view origin) {
    console.print(
        fmt::format("{:<8} {:<{}}  {}", name, value, width, console.styled(Style::dim, origin)));
  };
  const auto& wait = settings.wait.value;
  line("store", store, settings.store.origin);
  line("ttl", text::format_duration(ms(settings.ttl.value)), settings.ttl.origin);
  line("wait", wait ? text::format_duration(ms(*wait)) : "as the command says",
       settings.wait.origin);
  if (!settings.profile.value.empty()) {
    line("profile", settings.profile.value, settings.profile.origin);
  }
  for (const auto& file : settings.files) {
    console.print(fmt::format("{:<8} {}{}", "file", file.path, file.found ? "" : " (not there)"));
  }
}

Result<int> config(Context& context) {
  const auto settings = context.settings();
  if (!settings) return std::unexpected(settings.error());
  context.console.print(as_json(*settings));
  show(context.console, *settings);
  return 0;
}

constexpr Example examples[] = {
    {"holdfast config", "Which store would be used here, and who says so?"},
    {"holdfast --profile production config --json", "The same for a profile, for a program."},
};

constexpr std::string_view description =
    "Shows the settings in force and where each of them comes from: an option, a variable of the "
    "environment, a configuration file or the default; then the files that were looked for. "
    "Passwords are shown as ***. The store is not opened.\n\n"
    "With --json: an object with the fields store {value, from}, ttl {value_ms, from}, wait "
    "{value_ms, from}, profile {value, from} or null, and files, an array of {path, found}.";

}  // namespace
}  // namespace config_cmd

extern const Command config_command;
const Command config_command{.name = "config",
                             .arguments = "",
                             .summary = "show the settings in force and where they come from",
                             .description = config_cmd::description,
                             .examples = config_cmd::examples,
                             .declare = [](Syntax&) -> Action { return config_cmd::config; }};

}  // namespace holdfast::cli
