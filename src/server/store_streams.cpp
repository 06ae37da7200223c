// SPDX-License-Identifier: Apache-2.0
#include "server/store_streams.hpp"

#include "backends/remote/protocol.hpp"
#include "model/party.hpp"
#include "runtime/spawn.hpp"
#include "server/auth/principal.hpp"
#include "server/locks/waiting_room.hpp"

#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <unordered_map>
#include <utility>
#include <vector>

namespace holdfast::server {

namespace remote = backends::remote;
using model::RequestId;
using net::http::BodyStream;
using runtime::LocalTime;
using store::Notice;

namespace {

// What a coroutine needs to pass on what one waiter is told.
struct OpenEar {
  std::shared_ptr<client::Core> core;
  std::shared_ptr<BodyStream> body;
  LockName name;
  OwnerId owner;
  RequestId request{};
  std::unique_ptr<store::Listening> listening;
  std::atomic<bool> is_closed{false};
};

std::shared_ptr<const std::string> line_of(const boost::json::object& object) {
  return std::make_shared<const std::string>(boost::json::serialize(object) + "\n");
}

bool pass_on(const OpenEar& ear, const Notice& notice) {
  model::Message message{.owner = ear.owner, .request = ear.request};
  if (notice.reason == Notice::Reason::granted) message.grant = notice.grant;
  return ear.body->write(line_of(remote::to_json(remote::Line{ear.name, std::move(message)})));
}

// Only for a grant that has not left us: a client that may have read it relies on it.
void give_back(const OpenEar& ear) {
  model::LockCommand release{.spec = {}, .verb = model::Release{ear.owner, ear.request, true}};
  runtime::spawn(
      ear.core->store().apply({.name = ear.name,
                               .command = std::move(release),
                               .deadline = ear.core->runtime().now() + client::command_timeout}));
}

Task<bool> listen_on(std::shared_ptr<OpenEar> ear) {
  while (!ear->is_closed) {
    auto listening = ear->listening->next(LocalTime::max());
    const Notice notice = co_await std::move(listening);
    const bool says_something =
        notice.reason == Notice::Reason::granted || notice.reason == Notice::Reason::hint;
    if (!says_something) continue;
    const bool passed = !ear->is_closed && pass_on(*ear, notice);
    if (!passed && notice.reason == Notice::Reason::granted) give_back(*ear);
  }
  co_return true;
}

void close(const std::shared_ptr<OpenEar>& ear) {
  ear->is_closed = true;
  ear->listening->poke();
}

Error victim_of(const LockName& name) {
  return {Errc::deadlock,
          fmt::format("'{}' would have been waited for for ever: this wait was ended to break a "
                      "circle of waits",
                      name.str())};
}

bool is_same(const Principal& one, const Principal& other) {
  return one.name == other.name && one.secret_hash == other.secret_hash;
}

std::string unguessable(runtime::Runtime& runtime) {
  const auto high = runtime.random();
  return OwnerId::from_random(high, runtime.random()).str();
}

}  // namespace

class StoreStreams::Shared : public std::enable_shared_from_this<StoreStreams::Shared> {
 public:
  Shared(std::shared_ptr<client::Core> core, WaitingRoom& waiting, std::size_t max_streams)
      : core_(std::move(core)),
        waiting_(waiting),
        max_streams_(max_streams),
        server_id_(unguessable(core_->runtime())) {}

  const std::string& server_id() const { return server_id_; }
  bool is_full() const;
  void open(const BodyStreamPtr& body, PrincipalPtr principal);
  bool knows(std::string_view name, const Principal& principal) const;
  Result<Ear> listen(std::string_view name, Waiter waiter);
  std::optional<Waiter> forget(std::string_view name, const Principal& principal,
                               RequestId request);
  void end_all();

 private:
  struct Place {
    std::shared_ptr<OpenEar> ear;
    Waiter waiter;
    WaitingRoom::Ticket ticket;
    // A victim is told to ask again, and learns from the answer.
    std::unique_ptr<std::stop_callback<std::function<void()>>> on_victim{};
  };
  struct Stream {
    BodyStreamPtr body;
    PrincipalPtr principal;
    std::unordered_map<RequestId, Place> places;
  };
  using Ears = std::vector<std::shared_ptr<OpenEar>>;

  void end(const std::string& name);
  // With the lock. Tickets are given back at once; the ears are to be closed without it.
  static Ears take_ears(Stream& stream);
  void beat_later();
  void beat();
  std::shared_ptr<OpenEar> make_ear(const Stream& stream, const Waiter& waiter) const;

  const std::shared_ptr<client::Core> core_;
  WaitingRoom& waiting_;
  const std::size_t max_streams_;
  const std::string server_id_;

  mutable std::mutex mutex_;
  std::map<std::string, Stream, std::less<>> streams_;  // guarded by mutex_
  bool is_beating_ = false;                             // guarded by mutex_
};

bool StoreStreams::Shared::is_full() const {
  const std::lock_guard lock(mutex_);
  return streams_.size() >= max_streams_;
}

void StoreStreams::Shared::open(const BodyStreamPtr& body, PrincipalPtr principal) {
  const auto name = unguessable(core_->runtime());
  {
    const std::lock_guard lock(mutex_);
    streams_.emplace(name, Stream{body, std::move(principal), {}});
    if (!std::exchange(is_beating_, true)) beat_later();
  }
  body->on_closed([weak = weak_from_this(), name] {
    if (const auto self = weak.lock()) self->end(name);
  });
  body->write(line_of({{"stream", name}, {"server", server_id_}}));
}

bool StoreStreams::Shared::knows(std::string_view name, const Principal& principal) const {
  const std::lock_guard lock(mutex_);
  const auto found = streams_.find(name);
  return found != streams_.end() && is_same(*found->second.principal, principal);
}

std::shared_ptr<OpenEar> StoreStreams::Shared::make_ear(const Stream& stream,
                                                        const Waiter& waiter) const {
  return std::make_shared<OpenEar>(core_, stream.body, waiter.name, waiter.owner, waiter.request);
}

Result<StoreStreams::Ear> StoreStreams::Shared::listen(std::string_view name, Waiter waiter) {
  std::unique_lock lock(mutex_);
  const auto found = streams_.find(name);
  if (found == streams_.end()) return fail(Errc::unavailable, "the stream has just ended");
  auto& places = found->second.places;
  if (const auto known = places.find(waiter.request); known != places.end()) {
    if (known->second.ticket.wait()->is_victim) return std::unexpected(victim_of(waiter.name));
    return Ear{known->second.ear->listening->process(), false};
  }
  auto ticket = waiting_.enter(waiter.name.str(), model::party_of(waiter.owner.view()));
  if (!ticket) return std::unexpected(std::move(ticket.error()));
  auto listening = core_->store().listen(waiter.name, waiter.owner, waiter.request);
  if (!listening) return std::unexpected(std::move(listening.error()));
  auto ear = make_ear(found->second, waiter);
  ear->listening = std::move(*listening);
  const auto request = waiter.request;
  auto on_victim = std::make_unique<std::stop_callback<std::function<void()>>>(
      ticket->wait()->stop.get_token(), [weak = std::weak_ptr(ear)] {
        if (const auto open = weak.lock()) pass_on(*open, Notice{});
      });
  places.emplace(request, Place{ear, std::move(waiter), std::move(*ticket), std::move(on_victim)});
  const Ear made{ear->listening->process(), true};
  lock.unlock();
  runtime::spawn(listen_on(std::move(ear)));
  return made;
}

std::optional<StoreStreams::Waiter> StoreStreams::Shared::forget(std::string_view name,
                                                                 const Principal& principal,
                                                                 RequestId request) {
  std::unique_lock lock(mutex_);
  const auto found = streams_.find(name);
  if (found == streams_.end() || !is_same(*found->second.principal, principal)) return std::nullopt;
  const auto place = found->second.places.find(request);
  if (place == found->second.places.end()) return std::nullopt;
  auto ear = std::move(place->second.ear);
  auto waiter = std::move(place->second.waiter);
  found->second.places.erase(place);
  lock.unlock();
  close(ear);
  return waiter;
}

StoreStreams::Shared::Ears StoreStreams::Shared::take_ears(Stream& stream) {
  Ears ears;
  for (auto& [request, place] : stream.places) ears.push_back(std::move(place.ear));
  stream.places.clear();
  return ears;
}

void StoreStreams::Shared::end(const std::string& name) {
  Ears ears;
  {
    const std::lock_guard lock(mutex_);
    const auto found = streams_.find(name);
    if (found == streams_.end()) return;
    ears = take_ears(found->second);
    streams_.erase(found);
  }
  for (const auto& each : ears) close(each);
}

void StoreStreams::Shared::end_all() {
  Ears ears;
  {
    const std::lock_guard lock(mutex_);
    for (auto& [name, stream] : streams_) {
      for (auto& each : take_ears(stream)) ears.push_back(std::move(each));
      stream.body->close();
    }
    streams_.clear();
  }
  for (const auto& each : ears) close(each);
}

// With the lock.
void StoreStreams::Shared::beat_later() {
  auto& runtime = core_->runtime();
  runtime.schedule(runtime.now() + remote::heartbeat_interval, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->beat();
  });
}

void StoreStreams::Shared::beat() {
  std::vector<BodyStreamPtr> bodies;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [name, stream] : streams_) bodies.push_back(stream.body);
    is_beating_ = !bodies.empty();
    if (is_beating_) beat_later();
  }
  const auto line = std::make_shared<const std::string>("{}\n");
  for (const auto& each : bodies) each->write(line);
}

StoreStreams::StoreStreams(std::shared_ptr<client::Core> core, WaitingRoom& waiting,
                           std::size_t max_streams)
    : shared_(std::make_shared<Shared>(std::move(core), waiting, max_streams)) {}

StoreStreams::~StoreStreams() { shared_->end_all(); }

const std::string& StoreStreams::server_id() const { return shared_->server_id(); }

bool StoreStreams::is_full() const { return shared_->is_full(); }

void StoreStreams::open(BodyStreamPtr body, PrincipalPtr principal) {
  shared_->open(body, std::move(principal));
}

bool StoreStreams::knows(std::string_view stream, const Principal& principal) const {
  return shared_->knows(stream, principal);
}

Result<StoreStreams::Ear> StoreStreams::listen(std::string_view stream, Waiter waiter) {
  return shared_->listen(stream, std::move(waiter));
}

std::optional<StoreStreams::Waiter> StoreStreams::forget(std::string_view stream,
                                                         const Principal& principal,
                                                         model::RequestId request) {
  return shared_->forget(stream, principal, request);
}

}  // namespace holdfast::server
