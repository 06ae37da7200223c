// SPDX-License-Identifier: Apache-2.0
#include "cli/command.hpp"
#include "cli/look/display.hpp"
#include "cli/look/table.hpp"
#include "cli/n8n/files.hpp"
#include "cli/suggest.hpp"
#include "n8n/json_text.hpp"
#include "n8n/primitives.hpp"
#include "text/quote.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <utility>

namespace holdfast::cli {
namespace n8n_copy_primitive_cmd {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

struct Arguments {
  bool list = false;
  bool force = false;
  std::string key;
  std::string folder;
};

std::unexpected<Error> refuse(std::string reason) {
  return fail(Errc::bad_input, std::move(reason) + "; see 'holdfast n8n copy-primitive --help'");
}

Result<int> list(Console& console) {
  json::array primitives;
  Table table({{"PRIMITIVE", 0}, {"WHAT IT DOES", 0}});
  for (const auto& each : n8n::all_primitives()) {
    primitives.push_back(json::object{{"name", each.key}, {"summary", each.summary}});
    table.add({std::string(each.key), std::string(each.summary)});
  }
  console.print(json::object{{"primitives", std::move(primitives)}});
  for (const auto& line : table.lines(terminal_columns())) console.print(line);
  return 0;
}

Result<const n8n::Primitive*> find(const std::string& key) {
  if (const auto* found = n8n::find_primitive(key)) return found;
  std::vector<std::string> known;
  for (const auto& each : n8n::all_primitives()) known.emplace_back(each.key);
  auto hint = did_you_mean(key, known);
  if (hint.empty()) hint = "; --list shows those there are";
  return fail(Errc::bad_input, fmt::format("unknown primitive {}{}", text::quoted(key), hint));
}

Result<int> copy(Console& console, const Arguments& arguments) {
  const auto primitive = find(arguments.key);
  if (!primitive) return std::unexpected(primitive.error());
  if (!fs::is_directory(arguments.folder)) {
    return fail(Errc::bad_input, fmt::format("{}: is not a folder", arguments.folder));
  }
  const auto path =
      (fs::path(arguments.folder) / fmt::format("{}.template.json", (*primitive)->key)).string();
  std::error_code ignored;
  if (!arguments.force && fs::exists(fs::symlink_status(path, ignored))) {
    return fail(Errc::bad_input,
                fmt::format("{} exists already; --force-overwrite replaces it", path));
  }
  FileBatch batch;
  const auto text = n8n::to_text(make_primitive(**primitive, {}));
  const auto if_there = arguments.force ? FileBatch::IfThere::replace : FileBatch::IfThere::refuse;
  auto written = batch.add(path, text, if_there);
  if (written) written = batch.commit();
  if (!written) return std::unexpected(std::move(written.error()));
  console.print(json::object{{"file", path}});
  console.print(path);
  return 0;
}

Result<int> copy_primitive(Context& context, const Arguments& arguments) {
  if (arguments.list && (!arguments.key.empty() || arguments.force)) {
    return refuse("--list stands alone");
  }
  if (arguments.list) return list(context.console);
  if (arguments.key.empty()) return refuse("PRIMITIVE is missing");
  if (arguments.folder.empty()) return refuse("DIR is missing");
  return copy(context.console, arguments);
}

Action declare(Syntax& syntax) {
  const auto arguments = std::make_shared<Arguments>();
  std::string choices;
  for (const auto& each : n8n::all_primitives()) {
    choices += fmt::format("{}{}", choices.empty() ? "" : "|", each.key);
  }
  syntax.positional("PRIMITIVE", &arguments->key, "Which of them", choices);
  syntax.positional("DIR", &arguments->folder, "An existing folder");
  syntax.flag("--list", &arguments->list, "Show which there are, and write nothing");
  syntax.flag("--force-overwrite", &arguments->force, "Replace the file if it is there");
  return [arguments](Context& context) { return copy_primitive(context, *arguments); };
}

constexpr Example examples[] = {
    {"holdfast n8n copy-primitive --list", "Which primitives there are."},
    {"holdfast n8n copy-primitive rate_limit_check workflows",
     "Writes workflows/rate_limit_check.template.json."}};

}  // namespace
}  // namespace n8n_copy_primitive_cmd

extern const Command n8n_copy_primitive_command;
const Command n8n_copy_primitive_command{
    .name = "n8n copy-primitive",
    .arguments = "--list | PRIMITIVE DIR",
    .summary = "write one of those workflows as a template",
    .description =
        "Writes one of the workflows of create-lock, with placeholders such as "
        "{{@env:credentials.redis.id}} instead of ids, as DIR/PRIMITIVE.template.json. A file that "
        "is there is replaced with --force-overwrite only.\n\n"
        "With --json: an object with the field file, or with --list the field primitives, an array "
        "of objects with name and summary.",
    .examples = n8n_copy_primitive_cmd::examples,
    .declare = n8n_copy_primitive_cmd::declare};

}  // namespace holdfast::cli
