// SPDX-License-Identifier: Apache-2.0
#include "cli/command.hpp"
#include "cli/look/display.hpp"
#include "cli/look/table.hpp"
#include "cli/options.hpp"
#include "server/auth/secret.hpp"
#include "server/auth/token_edit.hpp"
#include "server/auth/token_file.hpp"
#include "server/auth/token_line.hpp"
#include "text/duration.hpp"
#include "text/quote.hpp"

#include <boost/json/array.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <memory>
#include <optional>

namespace holdfast::cli {
namespace token_cmd {
namespace {

namespace json = boost::json;
using server::Principal;
using server::Verb;

constexpr Duration min_expires = std::chrono::seconds(1);
constexpr Duration max_expires = std::chrono::days(3650);

struct Arguments {
  std::string action;
  std::string name;
  std::string verbs;
  std::vector<std::string> prefixes;
  std::optional<Duration> expires;
  std::string file;
};

std::unexpected<Error> refuse(std::string reason) {
  return fail(Errc::bad_input, std::move(reason) + "; see 'holdfast token --help'");
}

text::WallTime now() { return std::chrono::floor<Micros>(std::chrono::system_clock::now()); }

// Never the hash: it is of no use to anybody but the server.
json::object to_json(const Principal& principal) {
  json::array verbs;
  for (const auto verb : {Verb::read, Verb::lock, Verb::admin}) {
    if (principal.may(verb)) verbs.emplace_back(to_string(verb));
  }
  json::array prefixes(principal.prefixes.begin(), principal.prefixes.end());
  json::value expires;
  if (principal.expires) expires = text::format_time(*principal.expires);
  return {{"name", principal.name},
          {"verbs", std::move(verbs)},
          {"prefixes", std::move(prefixes)},
          {"expires_at", std::move(expires)}};
}

Result<void> check_prefixes(const std::vector<std::string>& prefixes) {
  if (prefixes.size() > server::max_token_prefixes) {
    return refuse(fmt::format("--prefix stands more than {} times", server::max_token_prefixes));
  }
  for (auto prefix = prefixes.begin(); prefix != prefixes.end(); ++prefix) {
    if (prefix->ends_with('*')) {
      return refuse(
          fmt::format("--prefix {}: a prefix is no pattern, so leave out the *; without "
                      "--prefix the token reaches every name",
                      text::quoted(*prefix)));
    }
    if (auto checked = server::check_prefix(*prefix); !checked) {
      return refuse("--prefix: " + checked.error().message);
    }
    if (std::find(prefixes.begin(), prefix, *prefix) != prefix) {
      return refuse(fmt::format("--prefix {} stands twice", text::quoted(*prefix)));
    }
  }
  return {};
}

Result<Principal> describe(const Arguments& arguments) {
  Principal principal;
  if (auto checked = server::check_token_name(arguments.name); !checked) {
    return refuse("TOKEN_NAME: " + checked.error().message);
  }
  principal.name = arguments.name;
  if (arguments.verbs.empty()) return refuse("--verbs is missing");
  const auto verbs = server::parse_verbs(arguments.verbs);
  if (!verbs) return refuse("--verbs: " + verbs.error().message);
  principal.verbs = *verbs;
  if (auto checked = check_prefixes(arguments.prefixes); !checked) {
    return std::unexpected(std::move(checked.error()));
  }
  principal.prefixes = arguments.prefixes;
  if (arguments.expires) {
    if (*arguments.expires < min_expires || *arguments.expires > max_expires) {
      return refuse("--expires must be from 1s to 3650d");
    }
    // As the file will say it.
    principal.expires = std::chrono::ceil<std::chrono::seconds>(now() + *arguments.expires);
  }
  return principal;
}

void print_token(Console& console, const Principal& principal, const std::string& token,
                 const std::string& file) {
  const auto line = format_token_line(principal);
  auto object = to_json(principal);
  object["token"] = token;
  object["file"] = file.empty() ? json::value(nullptr) : json::value(file);
  if (file.empty()) object["line"] = line;
  console.print(object);
  console.print(token);
  // Nothing but the line, so that it can be sent straight into a file.
  if (file.empty() && !console.json()) (void)write_all(STDERR_FILENO, line + "\n");
}

Result<int> create(Console& console, const Arguments& arguments) {
  if (console.quiet() && !console.json()) {
    return refuse("with --quiet nobody would learn the token; leave it out");
  }
  auto principal = describe(arguments);
  if (!principal) return std::unexpected(std::move(principal.error()));
  const auto token = server::make_token();
  principal->secret_hash = server::hash_of(token);
  if (!arguments.file.empty()) {
    if (auto added = server::add_token(arguments.file, *principal); !added) {
      return std::unexpected(std::move(added.error()));
    }
  }
  // A reader that went away is an error like any other, not the end of us.
  std::signal(SIGPIPE, SIG_IGN);
  print_token(console, *principal, token, arguments.file);
  if (console.finish()) return 0;
  // Nobody knows the token if it cannot be written.
  if (!arguments.file.empty()) {
    const auto revoked = server::revoke_token(arguments.file, principal->name);
    if (!revoked) console.error(revoked.error());
  }
  return exit_output_failed;
}

Result<int> list(Console& console, const Arguments& arguments) {
  const auto text = server::read_token_file(arguments.file);
  if (!text) return std::unexpected(text.error());
  const auto entries = server::parse_token_file(*text, arguments.file);
  if (!entries) return std::unexpected(entries.error());
  json::array tokens;
  Table table({{"NAME", 0}, {"VERBS", 0}, {"PREFIXES", 12}, {"EXPIRES", 0}});
  for (const auto& [principal, line] : *entries) {
    const bool has_expired = principal.has_expired(now());
    auto object = to_json(principal);
    object["expired"] = has_expired;
    tokens.push_back(std::move(object));
    const auto expires = principal.expires ? text::format_time(*principal.expires) : "never";
    table.add({principal.name, to_string(principal.verbs),
               server::format_prefixes(principal.prefixes),
               has_expired ? expires + " (expired)" : expires});
  }
  console.print(json::object{{"tokens", std::move(tokens)}});
  if (table.empty()) {
    console.note("there are no tokens in the file");
    return 0;
  }
  for (const auto& line : table.lines(terminal_columns())) console.print(line);
  return 0;
}

Result<int> revoke(Console& console, const Arguments& arguments) {
  // What is no name may be a token, pasted by mistake, and is not repeated.
  if (auto checked = server::check_token_name(arguments.name); !checked) {
    return refuse("TOKEN_NAME: " + checked.error().message);
  }
  if (auto revoked = server::revoke_token(arguments.file, arguments.name); !revoked) {
    return std::unexpected(std::move(revoked.error()));
  }
  console.print(
      json::object{{"name", arguments.name}, {"file", arguments.file}, {"revoked", true}});
  console.note(
      fmt::format("{} is revoked once the server has reloaded the file (SIGHUP)", arguments.name));
  return 0;
}

Result<void> check_for(const Arguments& arguments) {
  const bool creates = arguments.action == "create";
  const bool has_extras =
      !arguments.verbs.empty() || !arguments.prefixes.empty() || arguments.expires;
  if (!creates && has_extras) return refuse("--verbs, --prefix and --expires are for create");
  if (!creates && arguments.file.empty()) return refuse("--file is missing");
  if (arguments.action == "list" && !arguments.name.empty()) {
    return refuse("list takes no TOKEN_NAME");
  }
  if (arguments.action != "list" && arguments.name.empty()) return refuse("TOKEN_NAME is missing");
  return {};
}

Result<int> token(Context& context, const Arguments& arguments) {
  const auto& action = arguments.action;
  if (action != "create" && action != "list" && action != "revoke") {
    return refuse(
        fmt::format("unknown action {}; known are create, list and revoke", text::quoted(action)));
  }
  if (auto checked = check_for(arguments); !checked) {
    return std::unexpected(std::move(checked.error()));
  }
  if (action == "create") return create(context.console, arguments);
  if (action == "list") return list(context.console, arguments);
  return revoke(context.console, arguments);
}

Action declare(Syntax& syntax) {
  const auto arguments = std::make_shared<Arguments>();
  syntax.positional("ACTION", &arguments->action, "create, list or revoke", "create|list|revoke")
      .required();
  syntax.positional("TOKEN_NAME", &arguments->name,
                    "What the token is called, not the token itself");
  syntax.option("--file", &arguments->file, "FILE", "The token file of the server");
  syntax.option("--verbs", &arguments->verbs, "VERBS",
                "What it may do: read, lock, admin, or several with commas between them");
  syntax.option("--prefix", &arguments->prefixes, "PREFIX",
                "Only locks whose names begin with this; may be repeated (default: all)");
  add_duration(syntax, "--expires", arguments->expires,
               "The token is worth nothing after this time (default: it does not expire)");
  return [arguments](Context& context) { return token(context, *arguments); };
}

constexpr Example examples[] = {
    {"holdfast token create deploy-bot --verbs lock --prefix deploy: --file tokens",
     "A token for the locks whose names begin with deploy:."},
    {"holdfast token create ann --verbs admin --expires 30d 2>> tokens",
     "The same by hand: the token on the terminal, its line in the file."},
    {"holdfast token list --file tokens", "Who has which rights, and until when."},
    {"holdfast token revoke deploy-bot --file tokens",
     "Take the rights back; the server reads it on SIGHUP."}};

constexpr std::string_view description =
    "Makes, lists and revokes the tokens by which the clients of 'holdfast serve' prove who they "
    "are.\n\n"
    "create prints a fresh token once, on standard output. Nobody can print it again: the file "
    "keeps only its SHA-256. With --file the line is added there, and the file is made, closed to "
    "others, if there is none; without it the line is printed on standard error. read allows to "
    "look at locks, lock to take and release them too, admin also to take them from others. If the "
    "token cannot be written, its line is taken back, and the exit code is 74.\n\n"
    "list shows names, verbs, prefixes and expiry, and no hashes. revoke removes a line.\n\n"
    "The file must belong to the user whom the server runs as, or to root, and be closed to "
    "others (mode 0600). A running server reads it again on SIGHUP.\n\n"
    "With --json, create prints an object with the fields name, verbs, prefixes, expires_at, "
    "token, file and, without a file, line; list prints {tokens}, an array of objects with the "
    "first four and expired; revoke prints {name, file, revoked}.";

}  // namespace
}  // namespace token_cmd

extern const Command token_command;
const Command token_command{.name = "token",
                            .arguments = "create|list|revoke [TOKEN_NAME]",
                            .summary = "make, list and revoke the tokens of a server",
                            .description = token_cmd::description,
                            .examples = token_cmd::examples,
                            .declare = token_cmd::declare};

}  // namespace holdfast::cli
