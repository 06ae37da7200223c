// SPDX-License-Identifier: Apache-2.0
#include "server/sessions/sessions.hpp"

#include "client/explain.hpp"
#include "runtime/random.hpp"
#include "runtime/spawn.hpp"
#include "server/auth/principal.hpp"
#include "server/journal.hpp"
#include "server/locks/ask.hpp"
#include "server/metrics/metrics.hpp"
#include "server/options.hpp"

#include <fmt/format.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace holdfast::server {

using namespace std::chrono_literals;

namespace {

constexpr auto look_interval = 1s;

std::string derived(std::string_view purpose, std::string_view secret) {
  const std::string text = fmt::format("holdfast session {}:{}", purpose, secret);
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  std::string hex;
  for (std::size_t at = 0; at < 16; ++at) hex += fmt::format("{:02x}", digest[at]);
  return hex;
}

// In no random part of a secret.
constexpr char before_ttl = '.';

std::int64_t milliseconds_of(Micros time) {
  return std::chrono::ceil<std::chrono::milliseconds>(time).count();
}

Error gone() {
  return {Errc::not_held, "session: there is no such session, or it was not kept alive in time"};
}

model::MetadataPtr describe(const Who& who) {
  auto metadata = std::make_shared<Metadata>();
  metadata->note = fmt::format("session of {}", who.principal ? who.principal->name : "nobody");
  return metadata;
}

}  // namespace

SessionId SessionId::of(std::string_view secret) {
  auto public_id = derived("id", secret);
  auto lock = *LockName::make("holdfast:session:" + public_id);
  return {.public_id = std::move(public_id),
          .lock = std::move(lock),
          .keeper = *OwnerId::make(derived("keeper", secret)),
          .owner = *OwnerId::make(derived("owner", secret))};
}

Micros ttl_in(std::string_view secret) {
  const auto dot = secret.rfind(before_ttl);
  if (dot == std::string_view::npos) return default_session_ttl;
  std::int64_t ms = 0;
  const auto* const end = secret.data() + secret.size();
  const auto [at, failure] = std::from_chars(secret.data() + dot + 1, end, ms);
  const bool is_number = failure == std::errc{} && at == end;
  const bool is_ttl =
      is_number && ms >= milliseconds_of(min_session_ttl) && ms <= milliseconds_of(max_session_ttl);
  return is_ttl ? std::chrono::milliseconds(ms) : default_session_ttl;
}

void Sessions::start() {
  const std::lock_guard lock(mutex_);
  arm();
}

void Sessions::stop() {
  std::vector<std::shared_ptr<client::HeldLease>> left;
  {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
    core_->runtime().cancel(timer_);
    for (auto& [_, session] : bound_) std::ranges::move(session.leases, std::back_inserter(left));
    bound_.clear();
  }
  for (const auto& lease : left) lease->detach();
}

void Sessions::arm() {
  if (is_stopped_) return;
  auto& runtime = core_->runtime();
  timer_ = runtime.schedule(runtime.now() + look_interval, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->tick();
  });
}

void Sessions::tick() {
  std::vector<SessionId> to_look_after;
  {
    const std::lock_guard lock(mutex_);
    for (auto& [_, session] : bound_) {
      if (!std::exchange(session.is_asking, true)) to_look_after.push_back(session.id);
    }
    arm();
  }
  for (auto& id : to_look_after) runtime::spawn(look_after(std::move(id)));
}

// While the store cannot be asked, the leases end by themselves; nothing is decided here.
Task<bool> Sessions::look_after(SessionId id) {
  const auto self = shared_from_this();
  auto asking = ask(*core_, id.lock, model::Inspect{id.keeper});
  const Result<store::Reply> reply = co_await std::move(asking);
  bool lives = true;
  if (reply) {
    const auto& seen = std::get<model::Seen>(std::get<model::LockOutcome>(reply->outcome));
    lives = seen.mine.has_value();
  }
  if (!lives) release_all(id.public_id, "the session was not kept alive");
  const std::lock_guard lock(mutex_);
  if (const auto found = bound_.find(id.public_id); found != bound_.end()) {
    found->second.is_asking = false;
  }
  co_return lives;
}

Task<Result<Sessions::Alive>> Sessions::begin(Who who, Micros ttl) {
  const auto random = OwnerId::from_random(runtime::secure_random(), runtime::secure_random());
  const auto secret = fmt::format("{}{}{}", random.str(), before_ttl, milliseconds_of(ttl));
  const auto id = SessionId::of(secret);
  model::Acquire verb{
      .owner = id.keeper, .request = core_->fresh_request(), .ttl = ttl, .metadata = describe(who)};
  store::Request request{.name = id.lock,
                         .command = model::LockCommand{model::LockSpec::mutex(), std::move(verb)},
                         .deadline = core_->runtime().now() + client::command_timeout};
  auto asking = core_->store().apply(std::move(request));
  Result<store::Reply> reply = co_await std::move(asking);
  if (!reply) co_return std::unexpected(std::move(reply.error()));
  const auto& outcome = std::get<model::LockOutcome>(reply->outcome);
  const auto* granted = std::get_if<model::Granted>(&outcome);
  if (granted == nullptr) co_return std::unexpected(client::explain_refusal(id.lock, outcome));
  journal_.note(who, "session_started", id.lock.str(), "");
  co_return Alive{secret, id.public_id, granted->remaining};
}

Task<Result<Sessions::Alive>> Sessions::keep_alive(std::string secret, std::optional<Micros> ttl) {
  const auto id = SessionId::of(secret);
  auto asking = ask(*core_, id.lock,
                    model::Renew{.owner = id.keeper,
                                 .request = model::RequestId::any,
                                 .ttl = ttl.value_or(ttl_in(secret))});
  Result<store::Reply> reply = co_await std::move(asking);
  if (!reply) co_return std::unexpected(std::move(reply.error()));
  const auto* granted = std::get_if<model::Granted>(&std::get<model::LockOutcome>(reply->outcome));
  if (granted == nullptr) {
    release_all(id.public_id, "the session was not kept alive");
    co_return std::unexpected(gone());
  }
  co_return Alive{std::move(secret), id.public_id, granted->remaining};
}

Task<Result<std::size_t>> Sessions::end(Who who, std::string secret) {
  const auto id = SessionId::of(secret);
  auto asking =
      ask(*core_, id.lock, model::Release{.owner = id.keeper, .request = model::RequestId::any});
  Result<store::Reply> reply = co_await std::move(asking);
  if (!reply) co_return std::unexpected(std::move(reply.error()));
  const auto released = release_all(id.public_id, "the session ended");
  const bool was_alive =
      std::holds_alternative<model::Released>(std::get<model::LockOutcome>(reply->outcome));
  if (!was_alive) co_return std::unexpected(gone());
  journal_.note(who, "session_ended", id.lock.str(), "");
  co_return released;
}

Result<void> Sessions::may_bind(const SessionId& session) const {
  const std::lock_guard lock(mutex_);
  const auto found = bound_.find(session.public_id);
  if (found == bound_.end()) {
    if (bound_.size() < limits_.max_sessions) return {};
    return fail(Errc::limit_reached,
                fmt::format("max_sessions: this server keeps {} already", limits_.max_sessions));
  }
  if (found->second.leases.size() < limits_.max_session_leases) return {};
  return fail(Errc::limit_reached, fmt::format("max_session_leases: this session has {} already",
                                               limits_.max_session_leases));
}

void Sessions::bind(const SessionId& session, const Who& who,
                    std::shared_ptr<client::HeldLease> lease) {
  lease->on_lost([weak = weak_from_this(), id = session.public_id,
                  name = lease->identity().name.str(), fence = lease->fence()](const Error&) {
    if (const auto self = weak.lock()) self->lost(id, name, fence);
  });
  const auto is_the_same = [&](const auto& each) {
    return each->fence() == lease->fence() &&
           each->identity().request == lease->identity().request &&
           each->identity().name.str() == lease->identity().name.str();
  };
  const std::lock_guard lock(mutex_);
  auto& bound = bound_.try_emplace(session.public_id, Bound{session, who, {}}).first->second;
  // A repeated request was told of a lease that is renewed already.
  if (std::ranges::any_of(bound.leases, is_the_same)) return lease->detach();
  bound.leases.push_back(std::move(lease));
  by_owner_[session.owner.str()] = session.public_id;
}

void Sessions::drop_if_empty(const std::string& public_id) {
  const auto found = bound_.find(public_id);
  if (found == bound_.end() || !found->second.leases.empty()) return;
  by_owner_.erase(found->second.id.owner.str());
  bound_.erase(found);
}

void Sessions::forget(std::string_view name, const OwnerId& owner, model::RequestId request,
                      Fence up_to) {
  std::vector<std::shared_ptr<client::HeldLease>> gone;
  {
    const std::lock_guard lock(mutex_);
    const auto known = by_owner_.find(owner.view());
    if (known == by_owner_.end()) return;
    const std::string public_id = known->second;
    auto& leases = bound_.at(public_id).leases;
    const auto end = std::stable_partition(leases.begin(), leases.end(), [&](const auto& each) {
      const auto& lease = each->identity();
      const bool any = request == model::RequestId::any;
      const bool is_meant = any ? each->fence() <= up_to : lease.request == request;
      return !is_meant || lease.name.str() != name;
    });
    std::move(end, leases.end(), std::back_inserter(gone));
    leases.erase(end, leases.end());
    drop_if_empty(public_id);
  }
  for (const auto& lease : gone) lease->detach();
}

std::size_t Sessions::release_all(const std::string& public_id, std::string_view why) {
  Bound ended{.id = SessionId::of(""), .who = {}, .leases = {}};
  {
    const std::lock_guard lock(mutex_);
    const auto found = bound_.find(public_id);
    if (found == bound_.end()) return 0;
    ended = std::move(found->second);
    by_owner_.erase(ended.id.owner.str());
    bound_.erase(found);
  }
  for (const auto& lease : ended.leases) {
    journal_.record(ended.who, {.type = EventType::released,
                                .name = lease->identity().name.str(),
                                .fence = lease->fence(),
                                .reason = why});
    core_->runtime().post([lease] { runtime::spawn(lease->release()); });
  }
  return ended.leases.size();
}

void Sessions::lost(const std::string& public_id, const std::string& name, Fence fence) {
  Who who;
  {
    const std::lock_guard lock(mutex_);
    const auto found = bound_.find(public_id);
    if (found == bound_.end()) return;
    who = found->second.who;
    std::erase_if(found->second.leases, [&](const auto& each) {
      return each->identity().name.str() == name && each->fence() == fence;
    });
    drop_if_empty(public_id);
  }
  journal_.record(who, {.type = EventType::lost, .name = name, .fence = fence});
}

std::size_t Sessions::count() const {
  const std::lock_guard lock(mutex_);
  return bound_.size();
}

std::vector<Sessions::Shown> Sessions::list() const {
  const std::lock_guard lock(mutex_);
  std::vector<Shown> all;
  for (const auto& [id, session] : bound_) {
    Shown shown{.public_id = id,
                .principal = session.who.principal ? session.who.principal->name : "",
                .names = {}};
    for (const auto& lease : session.leases) shown.names.push_back(lease->identity().name.str());
    all.push_back(std::move(shown));
  }
  return all;
}

}  // namespace holdfast::server
