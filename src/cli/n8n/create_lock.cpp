// SPDX-License-Identifier: Apache-2.0
#include "cli/command.hpp"
#include "cli/n8n/environment.hpp"
#include "cli/n8n/files.hpp"
#include "n8n/json_text.hpp"
#include "n8n/placeholders.hpp"
#include "n8n/primitives.hpp"
#include "text/quote.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

namespace holdfast::cli {
namespace n8n_create_lock_cmd {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

constexpr std::string_view default_server = "http://127.0.0.1:3009";

struct Arguments {
  std::string folder;
  bool error_handler = false;
  bool rate_limit = false;
  bool force = false;
  bool as_template = false;
  std::optional<std::string> server;  // empty: the default
  std::string env;
};

std::unexpected<Error> refuse(std::string reason) {
  return fail(Errc::bad_input, std::move(reason) + "; see 'holdfast n8n create-lock --help'");
}

Result<void> check(const Arguments& arguments) {
  if (arguments.folder.empty()) return refuse("DIR must be non-empty");
  if (arguments.as_template && !arguments.env.empty()) {
    return refuse("--env fills in what --template leaves open; give one of them");
  }
  if (!arguments.as_template && arguments.env.empty()) {
    return refuse(
        "--env FILE.yml is needed for the ids of credentials and workflows; --template leaves "
        "placeholders in their places");
  }
  const auto server = arguments.server.value_or("");
  const bool is_url = server.starts_with("http://") || server.starts_with("https://");
  if (!server.empty() && !is_url) {
    return refuse(fmt::format("--via-server {}: the URL begins with http:// or https://",
                              text::quoted(server)));
  }
  return {};
}

std::vector<const n8n::Primitive*> chosen(const Arguments& arguments) {
  std::vector<const n8n::Primitive*> out;
  for (const auto& each : n8n::all_primitives()) {
    if (each.key == "error_handler_lock_cleanup" && !arguments.error_handler) continue;
    if (each.key == "rate_limit_check" && !arguments.rate_limit) continue;
    out.push_back(&each);
  }
  return out;
}

n8n::Style style_of(const Arguments& arguments, const std::optional<EnvironmentFile>& env) {
  n8n::Style style{.server = {}, .has_server_credential = false, .has_id = env.has_value()};
  if (!arguments.server) return style;
  style.server = arguments.server->empty() ? std::string(default_server) : *arguments.server;
  while (style.server->ends_with('/')) style.server->pop_back();
  style.has_server_credential = env && env->env.find("credentials.holdfast") != nullptr;
  return style;
}

Result<json::array> make(const Arguments& arguments) {
  const auto env = read_environment(arguments.env);
  if (!env) return std::unexpected(env.error());
  const auto style = style_of(arguments, *env);
  json::array workflows;
  for (const auto* each : chosen(arguments)) workflows.push_back(make_primitive(*each, style));
  if (!*env) return workflows;
  return n8n::resolve(std::move(workflows), (*env)->env, (*env)->path);
}

Result<void> refuse_existing(const std::vector<std::string>& paths) {
  std::vector<std::string> existing;
  for (const auto& path : paths) {
    std::error_code ignored;
    if (fs::exists(fs::symlink_status(path, ignored))) existing.push_back(path);
  }
  if (existing.empty()) return {};
  return fail(
      Errc::bad_input,
      fmt::format("{} exist{} already; --force-overwrite replaces {}", fmt::join(existing, ", "),
                  existing.size() == 1 ? "s" : "", existing.size() == 1 ? "it" : "them"));
}

Result<void> write(const Arguments& arguments, const std::vector<std::string>& paths,
                   const json::array& workflows) {
  if (!arguments.force) {
    if (auto fine = refuse_existing(paths); !fine) return fine;
  }
  std::error_code failed;
  fs::create_directories(arguments.folder, failed);
  if (failed) {
    return fail(Errc::bad_input, fmt::format("{}: no such folder can be made: {}", arguments.folder,
                                             failed.message()));
  }
  const auto if_there = arguments.force ? FileBatch::IfThere::replace : FileBatch::IfThere::refuse;
  FileBatch batch;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (auto added = batch.add(paths[i], n8n::to_text(workflows[i]), if_there); !added) {
      return added;
    }
  }
  return batch.commit();
}

Result<int> create_lock(Context& context, const Arguments& arguments) {
  if (auto fine = check(arguments); !fine) return std::unexpected(std::move(fine.error()));
  const auto workflows = make(arguments);
  if (!workflows) return std::unexpected(workflows.error());
  const auto* const ending = arguments.as_template ? ".template.json" : ".json";
  std::vector<std::string> paths;
  for (const auto* each : chosen(arguments)) {
    paths.push_back((fs::path(arguments.folder) / fmt::format("{}{}", each->key, ending)).string());
  }
  if (auto written = write(arguments, paths, *workflows); !written) {
    return std::unexpected(std::move(written.error()));
  }
  context.console.print(json::object{{"files", json::array(paths.begin(), paths.end())}});
  for (const auto& path : paths) context.console.print(path);
  return 0;
}

Action declare(Syntax& syntax) {
  const auto arguments = std::make_shared<Arguments>();
  syntax.positional("DIR", &arguments->folder, "Where to write the files; made if it is not there")
      .required();
  syntax.flag("--include-error-handler", &arguments->error_handler,
              "Also error_handler_lock_cleanup, for --lock-on-error of add-lock");
  syntax.flag("--include-rate-limit", &arguments->rate_limit,
              "Also rate_limit_check, for add-rate-limit");
  syntax.flag("--force-overwrite", &arguments->force, "Replace files that are there");
  add_environment(syntax, arguments->env, "The ids of credentials and workflows, as YAML");
  syntax.flag("--template", &arguments->as_template,
              "Leave placeholders instead of ids, in files called *.template.json");
  syntax
      .option("--via-server", &arguments->server, "[URL]",
              fmt::format("Call a Holdfast server instead of Redis (default: {})", default_server))
      .optional_value();
  return [arguments](Context& context) { return create_lock(context, *arguments); };
}

constexpr Example examples[] = {
    {"holdfast n8n create-lock workflows --env production.yml",
     "The two workflows that lock and unlock, on the Redis of n8n."},
    {"holdfast n8n create-lock flows --env live.yml --via-server http://locks:3009",
     "The same by a Holdfast server."}};

constexpr std::string_view description =
    "Writes the workflows that others call to lock: lock_acquisition and lock_release, and if "
    "wanted error_handler_lock_cleanup and rate_limit_check. Import them with 'n8n "
    "import:workflow' or in n8n's editor.\n\n"
    "Without --via-server they work on Redis with n8n's own nodes, and share keys, payloads and "
    "messages with everybody who has such workflows on the same Redis. With it they are three "
    "nodes "
    "around one call to 'holdfast serve', which queues instead of polling and has no races.\n\n"
    "The YAML file of --env has credentials.redis.id and .name, workflows.KEY.id for each "
    "workflow that is written, and may have displayName, workflowNamePostfix, lockScopes, and "
    "credentials.holdfast.id and .name, a header-auth credential for the server. What is missing "
    "is named, and then nothing is written. A file that is there is replaced with "
    "--force-overwrite only. The same input gives the same files, ids of nodes included.\n\n"
    "With --json: an object with the field files.";

}  // namespace
}  // namespace n8n_create_lock_cmd

extern const Command n8n_create_lock_command;
const Command n8n_create_lock_command{.name = "n8n create-lock",
                                      .arguments = "DIR",
                                      .summary = "write the workflows that lock and unlock",
                                      .description = n8n_create_lock_cmd::description,
                                      .examples = n8n_create_lock_cmd::examples,
                                      .declare = n8n_create_lock_cmd::declare};

}  // namespace holdfast::cli
