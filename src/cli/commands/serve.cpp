// SPDX-License-Identifier: Apache-2.0
#include <holdfast/n8n.hpp>

#include "cli/command.hpp"
#include "cli/process/notify.hpp"
#include "cli/process/signals.hpp"
#include "open/open.hpp"
#include "server/config.hpp"
#include "server/config_forrst.hpp"
#include "server/log.hpp"
#include "server/server.hpp"
#include "text/duration.hpp"
#include "text/quorum_url.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>

#include <algorithm>
#include <cstring>
#include <memory>

namespace holdfast::cli {
namespace serve_cmd {
namespace {

using server::LogLevel;
using server::ServerOptions;

// What the command line said; empty or nothing where it said nothing.
struct Arguments {
  std::vector<std::string> listen;
  std::optional<unsigned> threads;
  std::string drain;
  std::string certificate;
  std::string key;
  std::string client_ca;
  std::string clients;
  std::string token_file;
  std::vector<std::string> hosts;
  std::vector<std::string> origins;
  bool without_auth = false;
  bool without_tls = false;
  std::string log_format;
  std::string log_level;
  std::string deadlock_victim;
  std::string audit;
  bool check = false;
};

// The section `server:` of the config file that is in force.
Result<ServerOptions> from_file(const Settings& settings) {
  const auto found = std::ranges::find(settings.files, true, &ConfigFile::found);
  if (found == settings.files.end()) return ServerOptions{};
  auto config = text::load_config(found->path);
  if (!config) return std::unexpected(std::move(config.error()));
  return server::load_server_options(*config, found->path);
}

template <typename T>
void set(T& where, const T& said) {
  if (said != T{}) where = said;
}

template <typename T>
void choose(T& where, const std::string& said,
            std::initializer_list<std::pair<std::string_view, T>> words) {
  for (const auto& [word, value] : words) {
    if (word == said) where = value;
  }
}

Result<void> apply(const Arguments& arguments, ServerOptions& options) {
  set(options.listen, arguments.listen);
  options.threads = arguments.threads.value_or(options.threads);
  if (!arguments.drain.empty()) {
    const auto drain = text::parse_duration(arguments.drain);
    if (!drain) return fail(Errc::bad_input, "--drain: " + drain.error().message);
    options.drain = *drain;
  }
  set(options.tls.certificate, arguments.certificate);
  set(options.tls.key, arguments.key);
  set(options.tls.client_ca, arguments.client_ca);
  using server::ClientCertificates;
  choose(options.tls.clients, arguments.clients,
         {{"off", ClientCertificates::off},
          {"optional", ClientCertificates::optional},
          {"required", ClientCertificates::required}});
  set(options.token_file, arguments.token_file);
  set(options.allowed_hosts, arguments.hosts);
  set(options.allowed_origins, arguments.origins);
  options.insecure_without_auth |= arguments.without_auth;
  options.insecure_without_tls |= arguments.without_tls;
  choose(options.log_format, arguments.log_format,
         {{"text", server::LogFormat::text}, {"json", server::LogFormat::json}});
  choose(options.log_level, arguments.log_level,
         {{"debug", LogLevel::debug},
          {"info", LogLevel::info},
          {"warning", LogLevel::warning},
          {"error", LogLevel::error}});
  choose(options.deadlock_victim, arguments.deadlock_victim,
         {{"none", server::DeadlockVictim::none}, {"youngest", server::DeadlockVictim::youngest}});
  set(options.audit.file, arguments.audit);
  return server::check(options);
}

// By precedence: --store and HOLDFAST_STORE, then server.store, then the store of everything else.
std::string store_of(const Settings& settings, const ServerOptions& options) {
  const bool was_said = settings.store.origin == "--store" ||
                        settings.store.origin == "HOLDFAST_STORE" ||
                        settings.store.origin == "--profile";
  return was_said || options.store.empty() ? settings.store.value : options.store;
}

// Until a signal says that it is enough.
void attend(server::Server& server, const Signals& signals) {
  for (;;) {
    pollfd waits{.fd = signals.fd(), .events = POLLIN, .revents = 0};
    poll(&waits, 1, -1);
    while (const auto signal = signals.next()) {
      if (*signal == SIGTERM || *signal == SIGINT || *signal == SIGQUIT) {
        server::log(LogLevel::info, "stopping", {{"signal", strsignal(*signal)}});
        return;
      }
      if (*signal != SIGHUP) continue;
      const auto reloaded = server.reload();
      if (reloaded) {
        server::log(LogLevel::info, "tokens and certificates were read again");
      } else {
        server::log(LogLevel::error, "reload failed, the old ones stay in force",
                    {{"reason", reloaded.error().message}});
      }
    }
  }
}

Result<int> serve(Context& context, const Arguments& arguments) {
  const auto settings = context.settings();
  if (!settings) return std::unexpected(settings.error());
  auto options = from_file(*settings);
  if (!options) return std::unexpected(std::move(options.error()));
  if (auto good = apply(arguments, *options); !good)
    return std::unexpected(std::move(good.error()));
  const auto store = store_of(*settings, *options);
  if (auto good = text::check_store_url(store); !good) {
    return std::unexpected(std::move(good.error()));
  }
  if (arguments.check) {
    for (const auto& each : server::forrst_warnings(options->forrst)) {
      context.console.note("warning: " + each);
    }
    context.console.note(fmt::format("the settings are good: {} on {}",
                                     fmt::join(options->listen, ", "), text::masked(store)));
    return 0;
  }
  const Signals signals;  // before there are threads
  server::set_log(options->log_format, options->log_level);
  // The same store, once more, with n8n's keys.
  if (options->n8n.store.empty() && n8n::store_url(store) != store) {
    options->n8n.store = n8n::store_url(store);
  }
  auto core = open_core(store);
  if (!core) return std::unexpected(std::move(core.error()));
  auto server = server::Server::start(std::move(*options), std::move(*core));
  if (!server) return std::unexpected(std::move(server.error()));
  for (const auto& address : (*server)->addresses()) {
    server::log(LogLevel::info, "listening",
                {{"address", address}, {"store", text::masked(store)}});
  }
  notify_service_manager("READY=1");
  attend(**server, signals);
  notify_service_manager("STOPPING=1");
  (*server)->stop();
  server::log(LogLevel::info, "stopped");
  return 0;
}

Action declare(Syntax& syntax) {
  const auto arguments = std::make_shared<Arguments>();
  syntax.option("--listen", &arguments->listen, "ADDRESS",
                "Where to listen: ADDRESS:PORT or unix:PATH; may be repeated (default "
                "127.0.0.1:3009)");
  syntax.option("--threads", &arguments->threads, "N", "Threads that serve requests (default 1)")
      .between(1, 64);
  syntax.option("--drain", &arguments->drain, "DURATION",
                "How long to finish what is under way at the end (default 10s)");
  syntax.option("--tls-cert", &arguments->certificate, "FILE",
                "Certificate chain, PEM; makes it HTTPS");
  syntax.option("--tls-key", &arguments->key, "FILE", "Private key of the certificate, PEM");
  syntax.option("--tls-client-ca", &arguments->client_ca, "FILE",
                "Authority of the clients' certificates");
  syntax
      .option("--tls-clients", &arguments->clients, "off|optional|required",
              "Whether clients show a certificate (default off)")
      .one_of_words();
  syntax.option("--token-file", &arguments->token_file, "FILE",
                "Who may do what; see holdfast token");
  syntax.option("--allow-host", &arguments->hosts, "HOST",
                "Another name of this server; may be repeated");
  syntax.option("--allow-origin", &arguments->origins, "ORIGIN",
                "A web site whose pages may call; may be repeated");
  syntax.flag("--insecure-without-auth", &arguments->without_auth,
              "Listen beyond this machine although nobody needs a token");
  syntax.flag("--insecure-without-tls", &arguments->without_tls,
              "Listen beyond this machine although tokens travel in clear text");
  syntax
      .option("--log-format", &arguments->log_format, "text|json",
              "The form of the log (default text)")
      .one_of_words();
  syntax
      .option("--log-level", &arguments->log_level, "debug|info|warning|error",
              "What is logged (default info)")
      .one_of_words();
  syntax
      .option("--deadlock-victim", &arguments->deadlock_victim, "none|youngest",
              "Whose wait ends when waits go round in a circle (default none)")
      .one_of_words();
  syntax.option("--audit", &arguments->audit, "FILE", "Append who did what to this file");
  syntax.flag("--check", &arguments->check, "Only say whether the settings are good");
  return [arguments](Context& context) { return serve(context, *arguments); };
}

constexpr Example examples[] = {
    {"holdfast serve",
     "Leases over HTTP on 127.0.0.1:3009, on the store of this machine; http://localhost:3009/ "
     "shows them in a browser."},
    {"holdfast serve --store redis://10.0.0.1 --listen unix:/run/holdfast.sock",
     "On a Redis, for the programs of this machine."},
    {"holdfast serve --config /etc/holdfast/config.yml --check",
     "Says whether the settings are good, and with which line they are not."}};

}  // namespace
}  // namespace serve_cmd

extern const Command serve_command;
const Command serve_command{
    .name = "serve",
    .arguments = "",
    .summary = "serve locks over HTTP to programs in any language",
    .description =
        "Serves leases over HTTP, the endpoints of the Valkey guide, events and metrics, and a "
        "dashboard for people at /, until SIGTERM or SIGINT. The server keeps no lock itself: any "
        "number of servers on one store "
        "behave as one.\n\n"
        "It listens on this machine only, where nobody needs a token. Any other address needs "
        "--token-file and --tls-cert, or an option that says that you want to do without.\n\n"
        "Everything can be set in the section server: of the config file; what is given here "
        "counts before it. On SIGHUP the token file and the certificate are read again. On SIGTERM "
        "the server accepts nothing more, ends waits, finishes what is under way, at the latest "
        "after --drain, and exits with 0.",
    .examples = serve_cmd::examples,
    .declare = serve_cmd::declare};

}  // namespace holdfast::cli
