// SPDX-License-Identifier: Apache-2.0
#include "n8n/doctor.hpp"

#include "cli/command.hpp"
#include "cli/diagnosis.hpp"
#include "cli/look/display.hpp"
#include "cli/n8n/environment.hpp"
#include "cli/n8n/files.hpp"
#include "n8n/json_text.hpp"
#include "n8n/limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <utility>

namespace holdfast::cli {
namespace n8n_doctor_cmd {
namespace {

namespace fs = std::filesystem;
using Checks = std::vector<n8n::LockCheck>;

struct Arguments {
  std::vector<std::string> paths;
  std::string env;
};

struct Source {
  std::string path;
  bool is_named = false;  // by the user, and so it must be a workflow
};

// The files that are named, and all *.json in the folders that are.
Result<std::vector<Source>> sources_of(const std::vector<std::string>& paths) {
  std::vector<Source> out;
  for (const auto& path : paths) {
    std::error_code failed;
    if (!fs::is_directory(path, failed)) {
      out.push_back({path, true});
      continue;
    }
    std::vector<Source> inside;
    fs::recursive_directory_iterator entries(path, failed);
    for (; !failed && entries != fs::recursive_directory_iterator(); entries.increment(failed)) {
      const auto& entry = *entries;
      if (entry.path().extension() == ".json") inside.push_back({entry.path().string(), false});
      if (inside.size() + out.size() > n8n::max_doctor_files) {
        return fail(Errc::limit_reached,
                    fmt::format("{}: has more than {} files (max_doctor_files)", path,
                                n8n::max_doctor_files));
      }
    }
    if (failed) {
      return fail(Errc::bad_input, fmt::format("{}: cannot be read: {}", path, failed.message()));
    }
    std::ranges::sort(inside, {}, &Source::path);
    std::ranges::move(inside, std::back_inserter(out));
  }
  return out;
}

// In a folder there are other JSON files too.
bool looks_like_workflow(std::string_view text, const std::string& path) {
  const auto value = n8n::parse_json(text, path);
  const auto* object = value ? value->if_object() : nullptr;
  return object != nullptr && object->contains("nodes") && object->contains("connections");
}

Result<Checks> examine(const Source& source, const n8n::Env* env) {
  const auto text = read_file(source.path, {n8n::max_workflow_bytes, "max_workflow_bytes"});
  if (!text) return std::unexpected(text.error());
  if (!source.is_named && !looks_like_workflow(*text, source.path)) return Checks();
  const auto workflow = n8n::Workflow::parse(*text, source.path);
  if (!workflow) return std::unexpected(workflow.error());
  return n8n::examine_locks(*workflow, source.path, env);
}

Style style_of(n8n::Finding finding) {
  if (finding == n8n::Finding::fine) return Style::green;
  return finding == n8n::Finding::note ? Style::yellow : Style::red;
}

Result<int> doctor(Context& context, const Arguments& arguments) {
  const auto env = read_environment(arguments.env);
  if (!env) return std::unexpected(env.error());
  const auto sources = sources_of(arguments.paths);
  if (!sources) return std::unexpected(sources.error());
  Checks checks;
  for (const auto& source : *sources) {
    auto more = examine(source, *env ? &(*env)->env : nullptr);
    if (!more) return std::unexpected(std::move(more.error()));
    std::ranges::move(*more, std::back_inserter(checks));
  }
  auto& console = context.console;
  console.print(n8n::to_json(checks));
  if (checks.empty()) console.note("no workflow takes a lock");
  for (const auto& check : checks) {
    const auto word = padded(n8n::to_word(check.finding), 4);
    console.print(fmt::format("{}  {}: {}", console.styled(style_of(check.finding), word),
                              cleaned(check.label), cleaned(check.detail)));
  }
  return n8n::verdict(checks) == "ok" ? 0 : exit_warnings;
}

Action declare(Syntax& syntax) {
  const auto arguments = std::make_shared<Arguments>();
  syntax.positional("FILE", &arguments->paths, "Workflows, or folders with workflows")
      .required()
      .at_most(n8n::max_doctor_files);
  add_environment(syntax, arguments->env, "The file whose lockScopes are compared");
  return [arguments](Context& context) { return doctor(context, *arguments); };
}

constexpr Example examples[] = {{"holdfast n8n doctor workflows --env production.yml",
                                 "Which scopes does the clean-up not know?"}};

}  // namespace
}  // namespace n8n_doctor_cmd

extern const Command n8n_doctor_command;
const Command n8n_doctor_command{
    .name = "n8n doctor",
    .arguments = "FILE…",
    .summary = "look for locks that workflows may leave behind",
    .description =
        "Reads workflows and says ok, note or fail of each lock in them. fail: a scope that is not "
        "in lockScopes, so that the clean-up after a failure does not find it; a lock without a "
        "release behind it; and a trigger that reaches what is behind a lock without going through "
        "it. note: a scope that depends on the data, which cannot be registered. It changes "
        "nothing.\n\n"
        "The exit code is 0 if nothing failed and 88 otherwise.\n\n"
        "With --json: an object with the fields verdict (ok, lock-scopes-unregistered or "
        "locks-unsafe) and checks, an array of objects with state, label and detail.",
    .examples = n8n_doctor_cmd::examples,
    .declare = n8n_doctor_cmd::declare};

}  // namespace holdfast::cli
