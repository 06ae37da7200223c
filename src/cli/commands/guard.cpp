// SPDX-License-Identifier: Apache-2.0
#include "guard/guard.hpp"

#include "backends/file/places.hpp"
#include "cli/command.hpp"
#include "cli/process/notify.hpp"
#include "cli/process/signals.hpp"
#include "open/open.hpp"
#include "server/listen_address.hpp"
#include "server/log.hpp"
#include "text/duration.hpp"
#include "text/quorum_url.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cstring>
#include <memory>

namespace holdfast::cli {
namespace guard_cmd {
namespace {

using server::LogLevel;

constexpr std::string_view default_listen = "127.0.0.1:3010";

struct Arguments {
  std::string upstream;
  std::string upstream_ca;
  std::vector<std::string> listen;
  std::string resource = "path";
  std::string keep;
  std::string missing;
  std::string host;
  std::string timeout;
  std::string drain;
  std::string log_format;
  std::size_t max_body_bytes = guard::default_max_body_bytes;
  unsigned threads = 1;
};

Result<void> read_duration(std::string_view option, const std::string& text, Duration least,
                           Duration most, Duration& value) {
  if (text.empty()) return {};
  const auto parsed = text::parse_duration(text);
  if (!parsed) return fail(Errc::bad_input, fmt::format("{}: {}", option, parsed.error().message));
  if (*parsed < least || *parsed > most) {
    const auto words = [](Duration time) {
      return text::format_duration(std::chrono::duration_cast<std::chrono::milliseconds>(time));
    };
    return fail(Errc::bad_input, fmt::format("{}: must be from {} to {}; got {}", option,
                                             words(least), words(most), text));
  }
  value = *parsed;
  return {};
}

Result<void> read_durations(const Arguments& arguments, guard::Options& options) {
  using std::chrono::milliseconds;
  if (auto good = read_duration("--keep", arguments.keep, model::limits::min_guard_keep,
                                model::limits::max_guard_keep, options.keep);
      !good) {
    return good;
  }
  if (auto good = read_duration("--timeout", arguments.timeout, guard::min_upstream_timeout,
                                guard::max_upstream_timeout, options.upstream_timeout);
      !good) {
    return good;
  }
  return read_duration("--drain", arguments.drain, milliseconds(0), guard::max_upstream_timeout,
                       options.drain);
}

Result<guard::Options> options_of(const Arguments& arguments) {
  guard::Options options;
  auto upstream = guard::parse_upstream(arguments.upstream);
  if (!upstream) return std::unexpected(std::move(upstream.error()));
  options.upstream = std::move(upstream->origin);
  options.upstream_path = std::move(upstream->base);
  if (!arguments.upstream_ca.empty()) {
    if (!options.upstream.tls) {
      return fail(Errc::bad_input, "--upstream-ca: is for an https:// upstream");
    }
    options.upstream.tls->ca_file = arguments.upstream_ca;
  }
  auto rule = guard::parse_resource_rule(arguments.resource);
  if (!rule) return std::unexpected(std::move(rule.error()));
  options.resource = std::move(*rule);
  if (auto good = read_durations(arguments, options); !good) return std::unexpected(good.error());
  for (const auto& text : arguments.listen) {
    const auto address = server::parse_listen(text);
    if (!address) return fail(Errc::bad_input, "--listen: " + address.error().message);
    options.listen.push_back(
        {.host = address->host, .port = address->port, .socket_file = address->unix_path});
  }
  if (arguments.missing == "pass") options.missing = guard::Missing::pass;
  if (arguments.host == "upstream") options.host = guard::HostRule::upstream;
  options.max_body_bytes = arguments.max_body_bytes;
  options.threads = arguments.threads;
  return options;
}

// Fences must outlive a reboot, so this is no place that others share: see docs/fence-guards.md.
Result<std::string> store_of(const Settings& settings) {
  if (settings.store.origin != "default") return settings.store.value;
  if (geteuid() == 0) return "file:/var/lib/holdfast-guard?durable=yes";
  const auto folder = backends::file::default_folder();
  if (!folder) return std::unexpected(folder.error());
  return fmt::format("file:{}-guard?durable=yes", *folder);
}

void attend(const Signals& signals) {
  for (;;) {
    pollfd waits{.fd = signals.fd(), .events = POLLIN, .revents = 0};
    poll(&waits, 1, -1);
    while (const auto signal = signals.next()) {
      if (*signal != SIGTERM && *signal != SIGINT && *signal != SIGQUIT) continue;
      server::log(LogLevel::info, "stopping", {{"signal", strsignal(*signal)}});
      return;
    }
  }
}

Result<int> run_guard(Context& context, const Arguments& arguments) {
  const auto settings = context.settings();
  if (!settings) return std::unexpected(settings.error());
  auto options = options_of(arguments);
  if (!options) return std::unexpected(std::move(options.error()));
  const auto store = store_of(*settings);
  if (!store) return std::unexpected(store.error());
  if (auto good = text::check_store_url(*store); !good) return std::unexpected(good.error());
  const Signals signals;  // before there are threads
  server::set_log(
      arguments.log_format == "json" ? server::LogFormat::json : server::LogFormat::text,
      LogLevel::info);
  auto core = open_core(*store);
  if (!core) return std::unexpected(std::move(core.error()));
  auto guard = guard::Guard::start(std::move(*options), std::move(*core));
  if (!guard) return std::unexpected(std::move(guard.error()));
  for (const auto& address : (*guard)->addresses()) {
    server::log(LogLevel::info, "listening",
                {{"address", address},
                 {"upstream", text::masked(arguments.upstream)},
                 {"store", text::masked(*store)}});
  }
  notify_service_manager("READY=1");
  attend(signals);
  notify_service_manager("STOPPING=1");
  (*guard)->stop();
  server::log(LogLevel::info, "stopped");
  return 0;
}

Action declare(Syntax& syntax) {
  const auto arguments = std::make_shared<Arguments>();
  arguments->listen = {std::string(default_listen)};
  syntax
      .option("--upstream", &arguments->upstream, "URL",
              "The service behind: http://HOST[:PORT][/BASE], https://… or unix:/PATH")
      .required();
  syntax.option(
      "--upstream-ca", &arguments->upstream_ca, "FILE",
      "Who signs the certificate of an https:// upstream (default: the system's authorities)");
  syntax.option("--listen", &arguments->listen, "ADDRESS",
                "Where to listen: ADDRESS:PORT or unix:PATH; may be repeated (default "
                "127.0.0.1:3010)");
  syntax.option(
      "--resource", &arguments->resource, "RULE",
      "What a request is about: path, host, header:NAME or path-prefix:N, the first N segments "
      "(default path)");
  syntax.option(
      "--keep", &arguments->keep, "DURATION",
      "How long a resource is remembered after its last request with a fence (default 7d)");
  syntax
      .option("--missing", &arguments->missing, "refuse|pass",
              "What to do with requests that change something and have no fence (default refuse)")
      .one_of_words();
  syntax
      .option("--host", &arguments->host, "keep|upstream",
              "Which Host the upstream is told (default keep: the client's)")
      .one_of_words();
  syntax.option(
      "--timeout", &arguments->timeout, "DURATION",
      "How long the upstream may take: in all for a request with a fence, else for each step "
      "(default 30s)");
  syntax
      .option("--max-body", &arguments->max_body_bytes, "BYTES",
              "The longest body of a request, in bytes (default 1048576)")
      .between(0, guard::largest_max_body_bytes);
  syntax.option("--threads", &arguments->threads, "N", "Threads that pass requests on (default 1)")
      .between(1, 64);
  syntax.option("--drain", &arguments->drain, "DURATION",
                "How long to finish what is under way at the end (default 10s)");
  syntax
      .option("--log-format", &arguments->log_format, "text|json",
              "The form of the log (default text)")
      .one_of_words();
  return [arguments](Context& context) { return run_guard(context, *arguments); };
}

constexpr Example examples[] = {
    {"holdfast guard --upstream http://127.0.0.1:8080",
     "Passes requests on to the service on port 8080, from 127.0.0.1:3010."},
    {"holdfast guard --upstream unix:/run/app.sock --resource path-prefix:2",
     "/orders/42/items and /orders/42/state are one resource, /orders/42."},
    {"holdfast guard --upstream http://app --store redis://10.0.0.1",
     "Several guards that know the same fences."}};

}  // namespace
}  // namespace guard_cmd

extern const Command guard_command;
const Command guard_command{
    .name = "guard",
    .arguments = "",
    .summary = "a reverse proxy that refuses requests with an old fence",
    .description =
        "Stands before a service that knows nothing of fences. A request with the header "
        "Holdfast-Fence is passed on if no newer fence was seen for its resource; else it is "
        "answered with 412. Without the header, a request that changes something (anything but "
        "GET, HEAD and OPTIONS) is answered with 428.\n\n"
        "Requests of one resource reach the service in the order of their fences: one with a newer "
        "fence waits until the older ones have been answered, or until --timeout has closed their "
        "connection. Several guards on one store know the same fences, but do not wait for each "
        "other.\n\n"
        "Without --store, fences are remembered in a durable store of the guard's own: "
        "/var/lib/holdfast-guard for root, ~/.local/state/holdfast-guard for others. On SIGTERM "
        "the guard accepts nothing more, finishes what is under way, at the latest after --drain, "
        "and exits with 0.",
    .examples = guard_cmd::examples,
    .declare = guard_cmd::declare};

}  // namespace holdfast::cli
