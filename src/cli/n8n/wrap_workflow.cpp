// SPDX-License-Identifier: Apache-2.0
#include "cli/n8n/wrap_workflow.hpp"

#include "cli/n8n/files.hpp"
#include "n8n/limits.hpp"
#include "n8n/lock_scopes.hpp"
#include "n8n/placeholders.hpp"
#include "text/quote.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <utility>

namespace holdfast::cli {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

// The file with the scope in it, if there is one to be added.
Result<std::optional<std::string>> registered(const std::optional<EnvironmentFile>& env,
                                              const std::optional<std::string>& scope) {
  if (!env || !scope) return std::nullopt;
  auto text = n8n::with_lock_scope(env->text, *scope, env->path);
  if (!text) return std::unexpected(std::move(text.error()));
  if (*text == env->text) return std::nullopt;
  return std::move(*text);
}

bool is_same_file(const std::string& one, const std::string& other) {
  std::error_code ignored;
  return one == other || fs::equivalent(one, other, ignored);
}

Result<void> write_wrapped(const WrapArguments& arguments, const std::string& text,
                           const std::optional<EnvironmentFile>& env,
                           const std::optional<std::string>& env_text) {
  using IfThere = FileBatch::IfThere;
  FileBatch batch;
  const auto& path = arguments.output.empty() ? arguments.file : arguments.output;
  if (path != "-") {
    const auto if_there = is_same_file(path, arguments.file) ? IfThere::replace : IfThere::refuse;
    if (auto added = batch.add(path, text, if_there); !added) return added;
  }
  if (env_text) {
    if (auto added = batch.add(env->path, *env_text, IfThere::replace); !added) return added;
  }
  return batch.commit();
}

void report(Console& console, const WrapArguments& arguments, const n8n::Workflow& workflow,
            const Wrapping& wrapping, json::object result) {
  if (arguments.output == "-") {
    result["workflow"] = workflow.root();
    auto text = workflow.text();
    text.pop_back();  // print() ends the line
    console.print(text);
  } else {
    const auto& path = arguments.output.empty() ? arguments.file : arguments.output;
    result["file"] = path;
    console.print(fmt::format("{}: scope {}", path, wrapping.scope));
  }
  console.print(result);
}

}  // namespace

void add_wrap_arguments(Syntax& syntax, WrapArguments& arguments) {
  syntax.positional("FILE", &arguments.file, "A workflow as n8n exports it").required();
  add_environment(syntax, arguments.env, "The ids of the workflows that are called, as YAML");
  syntax.flag("--template", &arguments.as_template,
              "Leave placeholders instead of ids, as in a file that has such");
  syntax.option("--output", &arguments.output, "FILE",
                "Write here, - is standard output (default: change the file itself)");
}

Result<int> wrap_workflow(Console& console, const WrapArguments& arguments,
                          const Wrapping& wrapping) {
  const auto text = read_file(arguments.file, {n8n::max_workflow_bytes, "max_workflow_bytes"});
  if (!text) return std::unexpected(text.error());
  auto workflow = n8n::Workflow::parse(*text, arguments.file);
  if (!workflow) return std::unexpected(std::move(workflow.error()));
  const auto env = read_environment(arguments.env);
  if (!env) return std::unexpected(env.error());
  const n8n::Filling filling{
      .env = *env ? &(*env)->env : nullptr,
      .env_file = arguments.env,
      .as_template = arguments.as_template || n8n::has_placeholder(workflow->root())};
  auto notes = wrapping.change(*workflow, filling);
  if (!notes) {
    notes.error().message = fmt::format("{}: {}", arguments.file, notes.error().message);
    return std::unexpected(std::move(notes.error()));
  }
  const auto env_text = registered(*env, wrapping.fixed);
  if (!env_text) return std::unexpected(env_text.error());
  if (auto written = write_wrapped(arguments, workflow->text(), *env, *env_text); !written) {
    return std::unexpected(std::move(written.error()));
  }
  if (*env_text) {
    notes->push_back(fmt::format("{}: scope {} is registered in lockScopes", arguments.env,
                                 text::quoted(*wrapping.fixed)));
  }
  if (!console.json()) {
    for (const auto& note : *notes) console.note(note);
  }
  report(console, arguments, *workflow, wrapping,
         {{"scope", wrapping.scope},
          {"registered", env_text->has_value()},
          {"notes", json::array(notes->begin(), notes->end())}});
  return 0;
}

}  // namespace holdfast::cli
