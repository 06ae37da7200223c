// SPDX-License-Identifier: Apache-2.0
#include "server/server.hpp"

#include <holdfast/forrst/service.hpp>
#include <holdfast/n8n.hpp>

#include "client/core.hpp"
#include "net/http/listener.hpp"
#include "net/http/tls_context.hpp"
#include "open/open.hpp"
#include "server/app.hpp"
#include "server/audit/audit_log.hpp"
#include "server/auth/tokens.hpp"
#include "server/config_forrst.hpp"
#include "server/endpoints/forrst/answers.hpp"
#include "server/endpoints/patterns/voters.hpp"
#include "server/endpoints/routes.hpp"
#include "server/forrst/offer.hpp"
#include "server/forrst/socket.hpp"
#include "server/journal.hpp"
#include "server/listen_address.hpp"
#include "server/log.hpp"
#include "server/services.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <future>
#include <mutex>
#include <thread>

namespace holdfast::server {

namespace http = net::http;

namespace {

// After the drain: how long connections that were told to end may take to notice.
constexpr auto closing_time = std::chrono::seconds(2);
// And operations that were: each lease is given back for up to two seconds where the store is away.
constexpr auto last_releases = std::chrono::seconds(30);

// These bodies carry what is somebody else's: an answer that is kept, a call of a function.
std::size_t long_body_bytes(const http::Request& request) {
  const auto path = request.path;
  if (request.method != http::Method::post) return 0;
  if (is_forrst_path(path)) return forrst::max_request_bytes;
  const bool takes_an_answer =
      (path.starts_with("/v1/idempotency/") && path.ends_with("/complete")) ||
      path == "/v1/store/apply";
  return takes_an_answer ? max_complete_body_bytes : 0;
}

http::ConnectionLimits connection_limits(const Limits& limits) {
  return {.reader = {.max_header_bytes = limits.max_header_bytes,
                     .max_headers = limits.max_headers,
                     .max_body_bytes = limits.max_body_bytes,
                     .long_body_bytes = long_body_bytes,
                     .max_long_body_bytes =
                         std::max(forrst::max_request_bytes, max_complete_body_bytes)},
          .max_pipelined = limits.max_pipelined,
          .max_output_bytes = limits.max_output_bytes,
          .header_timeout = limits.header_timeout,
          .body_timeout = limits.body_timeout,
          .idle_timeout = limits.idle_timeout};
}

http::ServerTls tls_files(const TlsOptions& tls) {
  return {.certificate = tls.certificate,
          .key = tls.key,
          .client_ca = tls.clients == ClientCertificates::off ? std::string() : tls.client_ca,
          .needs_client_certificate = tls.clients == ClientCertificates::required};
}

std::vector<std::string> known_hosts(const ServerOptions& options) {
  std::vector<std::string> hosts{"localhost", "127.0.0.1", "::1"};
  for (const auto& each : options.listen) {
    if (auto address = parse_listen(each); address && !address->host.empty()) {
      hosts.push_back(address->host);
    }
  }
  hosts.insert(hosts.end(), options.allowed_hosts.begin(), options.allowed_hosts.end());
  return hosts;
}

// The certificate in force; new connections take it, old ones keep theirs.
class Certificate {
 public:
  http::Channel::TlsContext get() const {
    const std::lock_guard lock(mutex_);
    return context_;
  }
  void set(http::Channel::TlsContext context) {
    const std::lock_guard lock(mutex_);
    context_ = std::move(context);
  }

 private:
  mutable std::mutex mutex_;
  http::Channel::TlsContext context_;  // guarded by mutex_
};

}  // namespace

struct Server::Parts {
  Parts(ServerOptions options, std::shared_ptr<client::Core> core, std::unique_ptr<AuditLog> audit)
      : services(std::move(options), std::move(core), std::move(audit)),
        app(services, all_routes(), known_hosts(services.options())),
        admission(services.options().limits.max_connections,
                  services.options().limits.max_connections_per_address) {
    services.count_connections = [this] { return count_connections(); };
  }

  void start_workers();
  Result<void> listen();
  Result<void> load();
  void on_every_worker(void (http::Worker::*what)());
  void on_frames(void (FrameSocket::*what)());
  std::size_t count_connections() const;
  // Handlers work, or operations that outlive their clients.
  bool is_at_work() const { return count_connections() > 0 || services.under_way > 0; }
  bool wait_until_empty(std::chrono::microseconds time) const;
  void wait_for_operations(std::chrono::microseconds time) const;
  void close_listeners();

  Services services;
  App app;
  Certificate certificate;
  http::Admission admission;
  std::vector<std::unique_ptr<http::Worker>> workers;
  std::vector<std::unique_ptr<http::Listener>> listeners;
  std::unique_ptr<FrameSocket> frames;  // null: there is none
  bool is_stopped = false;
};

void Server::Parts::start_workers() {
  const auto& options = services.options();
  for (unsigned each = 0; each < options.threads; ++each) {
    workers.push_back(
        std::make_unique<http::Worker>(app, connection_limits(options.limits),
                                       [this](const http::Peer& peer) { admission.leave(peer); }));
  }
}

// Both are read before either takes effect.
Result<void> Server::Parts::load() {
  const auto& options = services.options();
  http::Channel::TlsContext context;
  if (!options.tls.certificate.empty()) {
    auto made = http::make_server_context(tls_files(options.tls));
    if (!made) return std::unexpected(std::move(made.error()));
    context = std::move(*made);
  }
  std::shared_ptr<const Tokens> tokens;
  if (!options.token_file.empty()) {
    auto loaded = Tokens::load(options.token_file);
    if (!loaded) return std::unexpected(std::move(loaded.error()));
    tokens = std::move(*loaded);
  }
  certificate.set(std::move(context));
  services.set_tokens(std::move(tokens));
  return {};
}

Result<void> Server::Parts::listen() {
  // First what whoever connects to the others may ask about.
  if (const auto& socket = services.options().forrst.socket; !socket.empty()) {
    frames = std::make_unique<FrameSocket>(workers.front()->context(), services, admission);
    if (auto opened = frames->open(socket); !opened) return opened;
  }
  for (const auto& text : services.options().listen) {
    const auto address = parse_listen(text);
    if (!address) return std::unexpected(address.error());
    auto listener =
        std::make_unique<http::Listener>(workers, admission, [this] { return certificate.get(); });
    auto opened = listener->open(
        {.host = address->host, .port = address->port, .socket_file = address->unix_path});
    if (!opened) return opened;
    listeners.push_back(std::move(listener));
  }
  return {};
}

void Server::Parts::on_every_worker(void (http::Worker::*what)()) {
  for (const auto& worker : workers) {
    boost::asio::post(worker->context(), [&worker, what] { (*worker.*what)(); });
  }
}

void Server::Parts::on_frames(void (FrameSocket::*what)()) {
  if (!frames) return;
  boost::asio::post(workers.front()->context(), [this, what] { (*frames.*what)(); });
}

std::size_t Server::Parts::count_connections() const {
  std::size_t count = frames ? frames->connections() : 0;
  for (const auto& worker : workers) count += worker->connections();
  return count;
}

bool Server::Parts::wait_until_empty(std::chrono::microseconds time) const {
  const auto until = std::chrono::steady_clock::now() + time;
  while (is_at_work()) {
    if (std::chrono::steady_clock::now() >= until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

void Server::Parts::wait_for_operations(std::chrono::microseconds time) const {
  const auto until = std::chrono::steady_clock::now() + time;
  while (services.under_way > 0 && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

void Server::Parts::close_listeners() {
  std::promise<void> closed;
  boost::asio::post(workers.front()->context(), [&] {
    for (const auto& listener : listeners) listener->close();
    if (frames) frames->close();
    closed.set_value();
  });
  closed.get_future().wait();
}

namespace {

Result<std::shared_ptr<client::Core>> open_n8n(Services& services) {
  const auto& url = services.options().n8n.store;
  if (url.empty()) return services.shared_core();
  // Whatever layout it names, n8n's keys are the ones that are shared.
  auto core = open_core(holdfast::n8n::store_url(url));
  if (core) return core;
  return fail(core.error().code, "server.n8n.store: " + core.error().message);
}

Result<void> open_forrst(Services& services) {
  const auto& options = services.options().forrst;
  services.forrst_core = services.shared_core();
  if (!options.store.empty()) {
    auto core = open_core(options.store);
    if (!core) return fail(core.error().code, "server.forrst.store: " + core.error().message);
    services.forrst_core = std::move(*core);
  }
  for (const auto& warning : forrst_warnings(options)) log(LogLevel::warning, warning);
  auto service = offer_forrst(services);
  if (!service) return std::unexpected(std::move(service.error()));
  services.forrst = std::move(*service);
  return {};
}

}  // namespace

Result<std::unique_ptr<Server>> Server::start(ServerOptions options,
                                              std::shared_ptr<client::Core> core) {
  if (auto good = EndpointLimits::check_store(core, options); !good) {
    return std::unexpected(std::move(good.error()));
  }
  auto audit = make_audit_log(options.audit);
  if (!audit) return std::unexpected(std::move(audit.error()));
  auto parts = std::make_unique<Parts>(std::move(options), std::move(core), std::move(*audit));
  if (auto good = parts->load(); !good) return std::unexpected(std::move(good.error()));
  auto voters = patterns::open_voters(parts->services.options().patterns.redlock_store);
  if (!voters) return std::unexpected(std::move(voters.error()));
  parts->services.voters = std::move(*voters);
  auto n8n_core = open_n8n(parts->services);
  if (!n8n_core) return std::unexpected(std::move(n8n_core.error()));
  parts->services.n8n_core = std::move(*n8n_core);
  if (auto good = open_forrst(parts->services); !good) {
    return std::unexpected(std::move(good.error()));
  }
  parts->start_workers();
  std::unique_ptr<Server> server(new Server(std::move(parts)));
  if (auto good = server->parts_->listen(); !good) return std::unexpected(std::move(good.error()));
  server->parts_->services.journal.note({}, "server_started", "", "");
  return server;
}

Server::Server(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

// A handler that does not end keeps what it works with. The threads are stopped, so nobody but
// such a handler touches it.
void Server::leave_behind(std::unique_ptr<Parts> parts) {
  static std::mutex mutex;
  static auto& kept = *new std::vector<std::unique_ptr<Parts>>();
  log(LogLevel::warning, "the server ends while requests are under way that do not end");
  parts->services.rest();
  const std::lock_guard lock(mutex);
  kept.push_back(std::move(parts));
}

Server::~Server() {
  stop();
  if (parts_->is_at_work()) leave_behind(std::move(parts_));
}

std::vector<std::string> Server::addresses() const {
  std::vector<std::string> all;
  for (const auto& listener : parts_->listeners) all.push_back(listener->bound());
  return all;
}

Result<void> Server::reload() {
  parts_->services.audit().reopen();
  auto loaded = parts_->load();
  if (loaded) parts_->services.journal.note({}, "tokens_reloaded", "", "");
  return loaded;
}

void Server::stop() {
  if (std::exchange(parts_->is_stopped, true)) return;
  auto& parts = *parts_;
  parts.services.is_draining = true;
  parts.services.draining.request_stop();
  parts.close_listeners();
  parts.on_every_worker(&http::Worker::drain);
  parts.on_frames(&FrameSocket::drain);
  if (!parts.wait_until_empty(parts.services.options().drain)) {
    parts.services.ending.request_stop();
    parts.on_every_worker(&http::Worker::close_all);
    parts.on_frames(&FrameSocket::close_all);
    parts.wait_until_empty(closing_time);
    parts.wait_for_operations(last_releases);
  }
  for (const auto& worker : parts.workers) worker->stop();
  parts.listeners.clear();
  if (!parts.is_at_work()) parts.frames.reset();
  parts.services.journal.note({}, "server_stopped", "", "");
  parts.services.audit().flush(std::chrono::seconds(2));
}

}  // namespace holdfast::server
