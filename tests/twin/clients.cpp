// SPDX-License-Identifier: Apache-2.0
#include "clients.hpp"

#include "support/ask.hpp"

#include <iterator>

namespace holdfast::test {

namespace {

using model::LockCommand;
using model::LockSpec;
using model::RequestId;
using std::chrono::milliseconds;

const std::vector<OwnerId>& owners() {
  static const std::vector<OwnerId> all{
      owner_named("o"),        owner_named("o1"),
      owner_named("o1 1"),     owner_named("{o}:*?[%s\\\"'"),
      owner_named("Größe 鎖"), owner_named(std::string(max_owner_bytes, '0'))};
  return all;
}

model::MetadataPtr metadata_with(std::string note, std::string value, std::string source,
                                 std::shared_ptr<const ProcessInfo> process = nullptr) {
  return std::make_shared<const Metadata>(
      Metadata{std::move(process), std::move(source), std::move(note), std::move(value)});
}

// Some of these look like parts of the records they are stored in.
const std::vector<model::MetadataPtr>& metadata() {
  const auto process =
      std::make_shared<const ProcessInfo>(ProcessInfo{"höst", "pro gram", 4711, 1'794'778'200'250});
  const auto nobody = std::make_shared<const ProcessInfo>();
  static const std::vector<model::MetadataPtr> all{
      nullptr,
      nullptr,
      metadata_with("", "", ""),
      metadata_with("two\r\nlines\t", "", "a.cpp:1", process),
      metadata_with("1000000000000000+", "0000000000000000+", "", nobody),
      metadata_with("", std::string(max_metadata_bytes, '1'), "")};
  return all;
}

const LockSpec other_specs[] = {
    LockSpec::mutex(Order::fifo), LockSpec::mutex(Order::barging),        LockSpec::mutex(),
    LockSpec::read_write(),       LockSpec::read_write(Order::barging),   LockSpec::reentrant(),
    LockSpec::semaphore(2),       LockSpec::semaphore(3, Order::barging), LockSpec::semaphore(1),
    LockSpec::election()};

}  // namespace

Clients::Clients(LockSpec spec, std::uint64_t seed, bool stay_with_kind)
    : spec_(spec),
      stay_with_kind_(stay_with_kind),
      random_(seed),
      crowd_(2 + below(owners().size() - 1)) {}

LockCommand Clients::next() {
  if (!sent_.empty() && one_in(10)) return sent_[below(sent_.size())];
  if (!sent_.empty() && one_in(10)) return sent_.back();
  const LockSpec spec = some_spec();
  LockCommand command{spec, verb(spec)};
  constexpr std::size_t most_remembered = 32;
  if (sent_.size() == most_remembered) sent_.erase(sent_.begin());
  sent_.push_back(command);
  return command;
}

void Clients::heard(const LockCommand& command, const model::LockOutcome& outcome) {
  const auto* wanted = std::get_if<model::Acquire>(&command.verb);
  if (const auto* forced = std::get_if<model::Forced>(&outcome)) {
    seen_fences_.push_back(forced->fence);
  }
  const auto* renewed = std::get_if<model::Renew>(&command.verb);
  if (renewed && renewed->fence != 0) seen_fences_.push_back(renewed->fence);
  if (!wanted) return;
  const bool converts = wanted->converts != RequestId::any;
  const Attempt attempt{wanted->owner.str(), converts ? wanted->converts : wanted->request};
  if (const auto* queued = std::get_if<model::Queued>(&outcome)) {
    places_[attempt] = queued->place;
    if (converts) waiting_upgrade_ = *wanted;
  }
  if (const auto* granted = std::get_if<model::Granted>(&outcome)) {
    fences_[attempt] = granted->fence;
    seen_fences_.push_back(granted->fence);
  }
}

void Clients::heard(const model::Message& message) {
  if (!message.grant) return;
  fences_[{message.owner.str(), message.request}] = message.grant->fence;
  seen_fences_.push_back(message.grant->fence);
}

Micros Clients::some_ttl() {
  if (one_in(30)) return milliseconds(10'000 + below(20'000));
  return milliseconds(20 + below(one_in(3) ? 2'000 : 200));
}

const OwnerId& Clients::some_owner() { return owners()[below(crowd_)]; }

Fence Clients::some_fence() {
  constexpr std::size_t most = 16;
  if (seen_fences_.size() > most) seen_fences_.erase(seen_fences_.begin(), seen_fences_.end() - 8);
  return seen_fences_.empty() ? 0 : seen_fences_[below(seen_fences_.size())];
}

// One that was seen, one of long ago, or one of a store that is far ahead. Never one that Redis may
// have wasted: it would mean something on one side only.
Fence Clients::some_agreed_fence() {
  if (one_in(10)) return 1 + below(3);
  constexpr Fence farther_than_redis_wastes = 1'000'000;
  const Fence fence = some_fence();
  if (fence == 0 || one_in(2)) return fence;
  return fence + farther_than_redis_wastes + below(1'000'000'000);
}

// A mutex is the write side of a read-write lock, so these two are mixed more often.
LockSpec Clients::some_spec() {
  LockSpec spec = spec_;
  if (spec.order == Order::fifo && one_in(3)) spec.order = Order::automatic;
  if (stay_with_kind_) return spec;
  if (spec.kind == Kind::read_write && one_in(10)) spec.kind = Kind::mutex;
  if (spec.kind == Kind::mutex && one_in(20)) spec.kind = Kind::read_write;
  if (one_in(40)) spec = other_specs[below(std::size(other_specs))];
  return spec;
}

std::uint32_t Clients::permits_for(const LockSpec& spec) {
  if (spec.kind == Kind::semaphore) return static_cast<std::uint32_t>(1 + below(spec.capacity));
  if (spec.kind == Kind::read_write) return below(5) < 2 ? all_permits : 1;
  return usual_permits(spec.kind);
}

// Mostly the one that some of the metadata has; the others only look like parts of it.
std::string Clients::some_source() {
  constexpr const char* others[] = {"a.cpp", "a.cpp:12", "two\r\nlines\t", "1", "%z"};
  return one_in(4) ? others[below(std::size(others))] : "a.cpp:1";
}

Clients::Verb Clients::verb(const LockSpec& spec) {
  const OwnerId& owner = some_owner();
  const RequestId request = one_in(12) ? RequestId::any : some_request();
  const auto dice = below(100);
  if (dice < 60) return acquire(spec);
  if (dice < 70) return model::Renew{owner, request, some_ttl()};
  if (dice < 74) {
    return model::Renew{owner, some_request(), some_ttl(), some_agreed_fence(), one_in(2)};
  }
  if (dice < 92) return release(owner, one_in(3) ? RequestId::any : request);
  if (dice < 94) return model::ForceRelease{.source = one_in(2) ? some_source() : ""};
  if (dice < 96) return model::ForceRelease{some_fence()};
  if (dice < 98) return model::Inspect{};
  return model::Inspect{owner};
}

model::Release Clients::release(const OwnerId& owner, RequestId request) {
  model::Release verb{owner, request, one_in(6)};
  if (request == RequestId::any && !one_in(3)) verb.up_to = some_fence();
  return verb;
}

model::Acquire Clients::acquire(const LockSpec& spec) {
  const OwnerId& owner = some_owner();
  const RequestId request = some_request();
  model::Acquire wanted{.owner = owner,
                        .request = request,
                        .permits = permits_for(spec),
                        .ttl = some_ttl(),
                        .wait = !one_in(4),
                        .place = place_of({owner.str(), request}),
                        .claim = milliseconds(1 + below(300)),
                        .process = one_in(20) ? model::ProcessId::none : processes[below(3)],
                        .metadata = metadata()[below(metadata().size())]};
  const bool shared = spec.kind == Kind::read_write && one_in(3);
  if (shared || (spec.kind == Kind::mutex && one_in(30))) convert(wanted);
  return wanted;
}

std::uint64_t Clients::place_of(const Attempt& attempt) {
  if (one_in(40)) return 1 + below(3);
  if (one_in(40)) return UINT64_MAX - below(3);
  if (one_in(40)) return some_fence();
  if (one_in(10) && !places_.empty()) {
    return std::next(places_.begin(), static_cast<std::ptrdiff_t>(below(places_.size())))->second;
  }
  const auto known = places_.find(attempt);
  return known == places_.end() || one_in(3) ? 0 : known->second;
}

// Conversions have requests of their own, except for a confused client now and then. A lease whose
// upgrade waits is the most interesting one to convert.
void Clients::convert(model::Acquire& wanted) {
  auto base = static_cast<std::uint64_t>(some_request());
  if (waiting_upgrade_ && one_in(2)) {
    wanted.owner = waiting_upgrade_->owner;
    base = static_cast<std::uint64_t>(waiting_upgrade_->converts);
  }
  const bool upgrades = wanted.permits == all_permits || one_in(2);
  wanted.converts = RequestId{base};
  if (!one_in(20)) wanted.request = RequestId{base + (upgrades ? 100 : 200)};
  if (one_in(20)) wanted.request = RequestId{UINT64_MAX - base};
  wanted.permits = upgrades ? all_permits : 1;
  if (one_in(2)) wanted.known = fences_[{wanted.owner.str(), wanted.converts}];
  if (one_in(20)) wanted.known = some_fence();
  if (one_in(40)) wanted.known = UINT64_MAX;
}

}  // namespace holdfast::test
