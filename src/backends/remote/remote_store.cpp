// SPDX-License-Identifier: Apache-2.0
#include "backends/remote/remote_store.hpp"

#include "backends/remote/looking.hpp"
#include "backends/remote/message_stream.hpp"
#include "backends/remote/server.hpp"
#include "backends/remote/withdrawals.hpp"
#include "runtime/fork.hpp"
#include "runtime/log.hpp"
#include "runtime/spawn.hpp"
#include "store/mailbox.hpp"

#include <boost/asio/ip/address.hpp>
#include <fmt/format.h>

#include <unordered_set>

namespace holdfast::backends::remote {

namespace {

using model::RequestId;
using net::http::ClientResponse;
using runtime::Runtime;
using store::Reply;
using store::Request;

// What an unwanted grant may cost before it lapses by itself.
constexpr Micros give_back_timeout = std::chrono::milliseconds(500);
// How often a stream that the server does not know is replaced before the caller is told.
constexpr unsigned max_restarts = 3;

class RemoteStore final : public store::Store, public std::enable_shared_from_this<RemoteStore> {
 public:
  RemoteStore(Options options, std::shared_ptr<Runtime> runtime);
  ~RemoteStore() override;
  // Once, before anything else: messages find the store while it lives.
  void start();
  Task<Result<void>> ready(LocalTime deadline);

  Task<Result<Reply>> apply(Request request) override;
  Result<std::unique_ptr<store::Listening>> listen(const LockName& name, const OwnerId& owner,
                                                   RequestId request) override;
  Task<Result<LockPage>> list(store::ListRequest request) override {
    return list_locks(server_, std::move(request));
  }
  Task<Result<std::vector<LockEvent>>> history(LockName name, std::uint32_t limit,
                                               LocalTime deadline) override {
    return read_history(server_, std::move(name), limit, deadline);
  }
  Result<void> supports(const model::LockSpec& spec) const override;
  store::Capabilities capabilities() const override {
    return {.queues = info_.queues, .may_change = true, .spends_requests = info_.spends_requests};
  }
  void on_change(std::function<void()> changed) override;
  LocalTime known_since() const override { return server_->known_since(); }
  Task<Result<std::vector<std::string>>> diagnose(LocalTime deadline) override {
    return look_for_trouble(server_, deadline);
  }
  Task<Result<Micros>> clock_offset(LocalTime deadline) override {
    return measure_clock_offset(server_, deadline);
  }
  std::string describe() const override { return server_->asked().peer; }

  // Nobody here listens for this request any more.
  void forget(RequestId request);

 private:
  MessageStream::Events stream_events();
  Task<Result<Reply>> ask(Request request);
  Result<Reply> read(const Request& request, const ClientResponse& answer);
  const model::Acquire* waiter_in(const model::Command& command) const;
  void note_outcome(const Request& request, const model::Outcome& outcome);
  bool has_ear(RequestId request);
  void changed();
  void give_back(const LockName& name, const OwnerId& owner, RequestId request);

  const Options options_;
  const std::shared_ptr<Runtime> runtime_;
  const std::uint32_t generation_ = runtime::fork_generation();
  const model::ProcessId process_;
  const std::shared_ptr<store::Mailbox> mailbox_;
  Info info_;  // set by `ready`
  std::shared_ptr<Server> server_;
  std::shared_ptr<MessageStream> stream_;
  std::shared_ptr<Withdrawals> withdrawals_;

  std::mutex mutex_;
  std::vector<std::function<void()>> on_change_;  // guarded by mutex_
  std::unordered_set<RequestId> ears_;            // kept for us by the server; guarded by mutex_
};

// The waiter's ear, which also tells the server when it closes.
class RemoteListening final : public store::Listening {
 public:
  RemoteListening(std::weak_ptr<RemoteStore> store, RequestId request,
                  std::unique_ptr<store::Listening> inner)
      : store_(std::move(store)), request_(request), inner_(std::move(inner)) {}
  RemoteListening(const RemoteListening&) = delete;
  RemoteListening& operator=(const RemoteListening&) = delete;
  ~RemoteListening() override {
    inner_.reset();
    if (const auto store = store_.lock()) store->forget(request_);
  }
  model::ProcessId process() const override { return inner_->process(); }
  Task<store::Notice> next(LocalTime deadline) override { return inner_->next(deadline); }
  void poke() override { inner_->poke(); }

 private:
  const std::weak_ptr<RemoteStore> store_;
  const RequestId request_;
  std::unique_ptr<store::Listening> inner_;
};

// The request that a command is about; `any` if there is none.
struct RequestOf {
  RequestId operator()(const model::Acquire& verb) const { return verb.request; }
  RequestId operator()(const model::Renew& verb) const { return verb.request; }
  RequestId operator()(const model::Release& verb) const { return verb.request; }
  RequestId operator()(const auto&) const { return RequestId::any; }
};

RequestId request_of(const model::Command& command) {
  const auto* lock = std::get_if<model::LockCommand>(&command);
  return lock != nullptr ? std::visit(RequestOf{}, lock->verb) : RequestId::any;
}

// Most commands carry their request's id, or say the same twice; a hit counts each time.
bool is_repeatable(const model::Command& command) {
  const auto* rate = std::get_if<model::RateCommand>(&command);
  return rate == nullptr || rate->verb != model::RateCommand::Verb::check;
}

RemoteStore::RemoteStore(Options options, std::shared_ptr<Runtime> runtime)
    : options_(std::move(options)),
      runtime_(std::move(runtime)),
      process_(model::ProcessId{runtime_->random() | 1U}),
      mailbox_(std::make_shared<store::Mailbox>(runtime_)) {}

RemoteStore::~RemoteStore() {
  // In a forked child the mutex may be locked for ever, by a thread that is not there.
  if (generation_ == runtime::fork_generation()) {
    if (stream_) stream_->close();
  } else {
    static_cast<void>(new std::shared_ptr<MessageStream>(std::move(stream_)));
  }
}

void RemoteStore::start() {
  const auto weak = weak_from_this();
  mailbox_->on_unwanted([weak](const LockName& name, const OwnerId& owner, RequestId request) {
    if (const auto store = weak.lock()) store->give_back(name, owner, request);
  });
  server_ = std::make_shared<Server>(runtime_, options_, [weak] {
    if (const auto store = weak.lock()) store->changed();
  });
  stream_ = std::make_shared<MessageStream>(runtime_, server_->client(), server_->asked(),
                                            stream_events());
  withdrawals_ = std::make_shared<Withdrawals>(runtime_, [weak](Request request) {
    const auto store = weak.lock();
    return store ? store->ask(std::move(request))
                 : Task<Result<Reply>>(fail(Errc::unavailable, "the store was closed"));
  });
}

MessageStream::Events RemoteStore::stream_events() {
  MessageStream::Events events;
  events.told = [mailbox = mailbox_](const Line& line) {
    mailbox->deliver(line.name, line.message);
  };
  // With the old stream the server forgot our waiters: they ask again, with the new one.
  events.opened = [weak = std::weak_ptr(server_), mailbox = mailbox_](const std::string& server,
                                                                      bool again) {
    if (const auto known = weak.lock()) known->answered(server);
    if (again) mailbox->hint_all_in_turn();
  };
  events.broken = [weak = std::weak_ptr(server_)] {
    if (const auto known = weak.lock()) known->failed();
  };
  return events;
}

Task<Result<void>> RemoteStore::ready(LocalTime deadline) {
  const auto self = shared_from_this();
  auto asking = server_->info(deadline);
  Result<Info> info = co_await std::move(asking);
  if (!info) co_return std::unexpected(std::move(info.error()));
  info_ = std::move(*info);
  co_return Result<void>{};
}

Task<Result<Reply>> RemoteStore::apply(Request request) {
  if (auto allowed = model::admissible(request.command); !allowed) {
    return Task<Result<Reply>>(std::unexpected(std::move(allowed.error())));
  }
  if (request.stop.stop_requested()) {
    return Task<Result<Reply>>(fail(Errc::cancelled, "cancelled before it began"));
  }
  return ask(std::move(request));
}

// Only whoever listens here can be told here.
const model::Acquire* RemoteStore::waiter_in(const model::Command& command) const {
  const auto* lock = std::get_if<model::LockCommand>(&command);
  const auto* acquire = lock != nullptr ? std::get_if<model::Acquire>(&lock->verb) : nullptr;
  return acquire != nullptr && acquire->wait && acquire->process == process_ ? acquire : nullptr;
}

Task<Result<Reply>> RemoteStore::ask(Request request) {
  const auto self = shared_from_this();
  const model::Acquire* waiter = waiter_in(request.command);
  withdrawals_->sending(request.name, request.command);
  for (unsigned restarts = 0;; ++restarts) {
    std::string stream = has_ear(request_of(request.command)) ? stream_->name() : std::string();
    if (waiter != nullptr) {
      auto opening = stream_->ready(request.deadline, request.stop);
      Result<std::string> opened = co_await std::move(opening);
      if (!opened) co_return std::unexpected(std::move(opened.error()));
      stream = std::move(*opened);
      const std::lock_guard lock(mutex_);
      ears_.insert(waiter->request);
    }
    const auto left = std::chrono::floor<Micros>(request.deadline - runtime_->now());
    const Question question{request.name, request.command, stream, left};
    Sending how{.repeatable = is_repeatable(request.command),
                .settled = withdrawals_->end_of(request.name, request.command)};
    auto asking = server_->post("/v1/store/apply", to_json(question), request.deadline,
                                request.stop, std::move(how));
    const Result<ClientResponse> answer = co_await std::move(asking);
    if (!answer) co_return std::unexpected(answer.error());
    const bool lost_stream = answer->status == 404 && refusal_code(*answer) == unknown_stream;
    if (lost_stream) stream_->restart(stream);
    if (!lost_stream || restarts == max_restarts) co_return read(request, *answer);
  }
}

Result<Reply> RemoteStore::read(const Request& request, const ClientResponse& answer) {
  const auto object = read_answer(answer, server_->asked());
  if (!object) return std::unexpected(object.error());
  auto reply = parse_reply(*object);
  if (!reply) {
    return fail(Errc::outcome_unknown, fmt::format("{}: the answer is not understood: {}",
                                                   describe(), reply.error().message));
  }
  // Each machine has its own kind of outcome.
  if (request.command.index() != reply->outcome.index()) {
    return fail(Errc::outcome_unknown,
                fmt::format("{}: the answer is to another question", describe()));
  }
  note_outcome(request, reply->outcome);
  return reply;
}

// Whoever is no longer in a queue needs no ear at the server, which closed it as well.
void RemoteStore::note_outcome(const Request& request, const model::Outcome& outcome) {
  const auto* of_lock = std::get_if<model::LockOutcome>(&outcome);
  if (of_lock == nullptr || std::holds_alternative<model::Queued>(*of_lock)) return;
  const std::lock_guard lock(mutex_);
  ears_.erase(request_of(request.command));
}

bool RemoteStore::has_ear(RequestId request) {
  const std::lock_guard lock(mutex_);
  return ears_.contains(request);
}

Result<std::unique_ptr<store::Listening>> RemoteStore::listen(const LockName&, const OwnerId&,
                                                              RequestId request) {
  return std::make_unique<RemoteListening>(weak_from_this(), request,
                                           mailbox_->listen(request, process_));
}

void RemoteStore::forget(RequestId request) {
  if (generation_ != runtime::fork_generation()) return;
  {
    const std::lock_guard lock(mutex_);
    if (ears_.erase(request) == 0) return;
  }
  const auto stream = stream_->name();
  if (stream.empty()) return;
  boost::json::object body{{"stream", stream},
                           {"request", std::to_string(static_cast<std::uint64_t>(request))}};
  runtime::spawn(
      server_->post("/v1/store/forget", std::move(body), runtime_->now() + give_back_timeout));
}

void RemoteStore::give_back(const LockName& name, const OwnerId& owner, RequestId request) {
  model::LockCommand release{.spec = {}, .verb = model::Release{owner, request, true}};
  runtime::spawn(apply(Request{.name = name,
                               .command = std::move(release),
                               .deadline = runtime_->now() + give_back_timeout}));
}

Result<void> RemoteStore::supports(const model::LockSpec& spec) const {
  for (const auto& each : info_.unsupported) {
    if (each.kind == spec.kind && each.order == spec.order) return std::unexpected(each.reason);
  }
  return {};
}

void RemoteStore::on_change(std::function<void()> changed) {
  const std::lock_guard lock(mutex_);
  on_change_.push_back(std::move(changed));
}

void RemoteStore::changed() {
  std::vector<std::function<void()>> told;
  {
    const std::lock_guard lock(mutex_);
    told = on_change_;
  }
  for (const auto& each : told) each();
}

// Whoever can read the network between could take the token.
void warn_of_an_open_token(const Options& options) {
  const auto& origin = options.origin;
  if (origin.headers.empty() || origin.tls || !origin.unix_path.empty()) return;
  boost::system::error_code is_a_name;
  const auto address = boost::asio::ip::make_address(origin.host, is_a_name);
  const bool is_here = is_a_name ? origin.host == "localhost" : address.is_loopback();
  if (is_here) return;
  runtime::log_warning(
      fmt::format("{}: the token is sent over the network without encryption; "
                  "use https://",
                  origin.describe()));
}

}  // namespace

Result<std::shared_ptr<store::Store>> open_remote_store(Options options,
                                                        std::shared_ptr<Runtime> runtime) {
  if (runtime->on_own_thread()) {
    return fail(Errc::unsupported,
                "a store cannot be opened inside a Holdfast callback: use another thread");
  }
  warn_of_an_open_token(options);
  const auto deadline = runtime->now() + options.origin.connect_timeout;
  auto store = std::make_shared<RemoteStore>(std::move(options), runtime);
  store->start();
  if (auto ready = runtime::run_blocking(store->ready(deadline)); !ready) {
    return std::unexpected(std::move(ready.error()));
  }
  return store;
}

}  // namespace holdfast::backends::remote
