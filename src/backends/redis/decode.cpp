// SPDX-License-Identifier: Apache-2.0
#include "backends/redis/keys.hpp"
#include "backends/redis/record.hpp"
#include "backends/redis/wire.hpp"
#include "model/party.hpp"

#include <fmt/format.h>

#include <map>
#include <span>

namespace holdfast::backends::redis {

namespace {

using model::LockOutcome;
using model::StoreTime;
using net::resp::text_of;

enum class Code : std::uint8_t {
  granted = 1,
  busy,
  queued,
  released,
  not_held,
  not_owner,
  forced,
  refused
};

std::unexpected<Error> nonsense(std::string_view what) {
  return fail(Errc::outcome_unknown, fmt::format("the script's answer makes no sense: {}", what));
}

// The elements of an array reply, numbers read whatever form they have.
class Elements {
 public:
  explicit Elements(const redisReply& reply)
      : all_(reply.element, reply.type == REDIS_REPLY_ARRAY ? reply.elements : 0) {}

  std::size_t size() const { return all_.size(); }
  const redisReply& operator[](std::size_t at) const { return *all_[at]; }
  std::string_view text(std::size_t at) const {
    const bool has = at < all_.size() && all_[at]->str != nullptr;
    return has ? text_of(*all_[at]) : std::string_view{};
  }
  std::uint64_t number(std::size_t at) const {
    if (at >= all_.size()) return 0;
    if (all_[at]->type == REDIS_REPLY_INTEGER) return static_cast<std::uint64_t>(all_[at]->integer);
    return parse_digits(text(at)).value_or(0);
  }
  std::uint32_t count(std::size_t at) const { return static_cast<std::uint32_t>(number(at)); }
  Micros time(std::size_t at) const { return Micros(static_cast<std::int64_t>(number(at))); }

 private:
  std::span<redisReply*> all_;
};

HolderView view_of(const model::Hold& hold, Micros remaining, StoreTime now) {
  return {.fence = hold.fence,
          .permits = hold.permits,
          .claimed = hold.claimed,
          .remaining = remaining,
          .held_for = now - hold.since,
          .metadata = hold.metadata};
}

// A lone holder comes as it is stored, others as pairs of what is left and their record.
model::Busy decode_busy(const Elements& reply, StoreTime now) {
  model::Busy busy{.retry_after = std::max(Micros::zero(), reply.time(2)),
                   .holder_count = reply.count(3),
                   .holders = {}};
  constexpr std::size_t first = 4;
  if (reply.size() == first + 1) {
    model::LockSpec spec;
    if (auto hold = parse_lone_hold(reply.text(first), busy.retry_after, now, spec)) {
      busy.holders.push_back(view_of(*hold, busy.retry_after, now));
    }
    return busy;
  }
  constexpr std::string_view any_owner = "00000000000000000";
  for (std::size_t at = first; at + 1 < reply.size(); at += 2) {
    if (auto hold = parse_hold(any_owner, reply.text(at + 1))) {
      busy.holders.push_back(view_of(*hold, reply.time(at), now));
    }
  }
  return busy;
}

model::Refused decode_refusal(const Elements& reply) {
  const auto code = reply.text(2);
  Errc known = Errc::bad_input;
  for (const Errc each : {Errc::busy, Errc::spec_mismatch, Errc::limit_reached}) {
    if (to_string(each) == code) known = each;
  }
  return {Error{known, std::string(reply.text(3))}};
}

Result<LockOutcome> decode_outcome(Code code, const Elements& reply, StoreTime now) {
  switch (code) {
    case Code::granted:
      // The key of a lone holder counts in milliseconds, so that its lease may seem to begin later.
      return model::Granted{reply.number(2), reply.time(3),
                            std::max(Micros::zero(), reply.time(4))};
    case Code::busy: return decode_busy(reply, now);
    case Code::queued: return model::Queued{reply.number(2), reply.count(3), reply.time(4)};
    case Code::released: return model::Released{reply.number(2) == 1};
    case Code::not_held: return model::NotHeld{};
    case Code::not_owner: return model::NotOwner{};
    case Code::forced: return model::Forced{reply.number(2), reply.count(3)};
    case Code::refused: return decode_refusal(reply);
  }
  return nonsense("unknown outcome");
}

// The shortcuts answer with one number: a fence, or an outcome without more to say.
Result<store::Reply> decode_short(const model::LockCommand& command, std::uint64_t number) {
  if (const auto* acquire = std::get_if<model::Acquire>(&command.verb)) {
    return store::Reply{{}, LockOutcome(model::Granted{number, acquire->ttl, Micros::zero()})};
  }
  const Code code{static_cast<std::uint8_t>(number)};
  if (code == Code::released) return store::Reply{{}, LockOutcome(model::Released{true})};
  if (code == Code::not_held) return store::Reply{{}, LockOutcome(model::NotHeld{})};
  return nonsense("unknown number");
}

// In a dialect a lock may be held by somebody who has not said who that is: mirror.lua calls that
// one by the SHA-1 of nothing.
void forget_party_of_the_nameless(model::Seen& seen) {
  static const auto nameless = model::party_of("sha1:da39a3ee5e6b4b0d3255bfef95601890afd80709");
  for (HolderView& holder : seen.lock.holders) {
    if (holder.party == nameless) holder.party = 0;
  }
}

Result<store::Reply> decode_look(const model::Inspect& wanted, const redisReply& reply) {
  auto seen = decode_snapshot(reply);
  if (!seen) return std::unexpected(std::move(seen.error()));
  model::FenceCounter nothing_is_minted;
  struct Nobody final : model::World {
    using World::World;
    bool reachable(model::ProcessId) override { return false; }
  } world(seen->at, 0, nothing_is_minted);
  LockOutcome outcome = model::step(seen->state, {seen->state.spec, wanted}, world);
  forget_party_of_the_nameless(std::get<model::Seen>(outcome));
  return store::Reply{seen->at, std::move(outcome)};
}

// Pairs of member and score: holders by expiry above zero, waiters by place below.
constexpr double waiters_below = -9e15;

struct Place {
  std::string_view id;
  double score = 0;
};

std::optional<double> parse_score(std::string_view text) {
  // std::from_chars would do, but Redis also writes inf.
  char* end = nullptr;
  const std::string copy(text);
  const double score = std::strtod(copy.c_str(), &end);
  if (end != copy.c_str() + copy.size() || copy.empty()) return std::nullopt;
  return score;
}

Result<void> add_member(model::LockState& state, const Place& member, std::string_view record) {
  const auto id = member.id.substr(1);
  if (member.id.starts_with('h')) {
    auto hold = parse_hold(id, record);
    if (!hold) return nonsense("a holder's record");
    hold->expires = StoreTime(Micros(static_cast<std::int64_t>(member.score)));
    state.holds.push_back(std::move(*hold));
    return {};
  }
  auto waiter = parse_waiter(id, record);
  if (!waiter) return nonsense("a waiter's record");
  state.queue.emplace(static_cast<std::uint64_t>(member.score - waiters_below), std::move(*waiter));
  return {};
}

Result<void> decode_company(const Elements& reply, std::string_view value,
                            model::LockState& state) {
  constexpr std::size_t value_bytes = 45;
  constexpr std::size_t offer_bytes = 32;
  const auto spec_text = std::string(value.substr(std::min<std::size_t>(1, value.size()), 12));
  const auto body = parse_body(spec_text + std::string(tail_bytes - 12, '0'));
  const bool has_offer = value.size() == value_bytes + offer_bytes;
  if ((value.size() != value_bytes && !has_offer) || !body || reply.size() < 5) {
    return nonsense("its state");
  }
  const auto number_at = [value](std::size_t at) {
    return parse_digits(value.substr(at, 16)).value_or(0);
  };
  const auto time_at = [number_at](std::size_t at) {
    return StoreTime(Micros(static_cast<std::int64_t>(number_at(at))));
  };
  state.spec = body->spec;
  state.queue_expires = time_at(29);
  if (has_offer) state.offer = {number_at(value_bytes), time_at(value_bytes + 16)};
  const Elements order(reply[3]);
  const Elements fields(reply[4]);
  std::map<std::string_view, std::string_view> records;
  for (std::size_t i = 0; i + 1 < fields.size(); i += 2) {
    records.emplace(fields.text(i), fields.text(i + 1));
  }
  for (std::size_t i = 0; i + 1 < order.size(); i += 2) {
    const auto score = parse_score(order.text(i + 1));
    if (!score || order.text(i).empty()) return nonsense("its order");
    const Place member{order.text(i), *score};
    if (auto added = add_member(state, member, records[member.id]); !added) return added;
  }
  return {};
}

Result<void> decode_state(const Elements& elements, Snapshot& seen) {
  const auto value = elements.text(1);
  if (value.empty()) return {};
  if (value.starts_with('2')) return decode_company(elements, value, seen.state);
  if (!value.starts_with('1')) {
    return fail(Errc::unavailable, "this lock was written by a newer version of Holdfast");
  }
  const Micros left = std::chrono::milliseconds(elements[2].integer);
  auto hold = parse_lone_hold(value, left, seen.at, seen.state.spec);
  if (!hold) return nonsense("a lone holder's record");
  seen.state.holds.push_back(std::move(*hold));
  return {};
}

// What a key without a ttl is shown as.
constexpr Micros for_ever = std::chrono::hours(24);

// What the key that is shared says.
struct SharedKey {
  std::string_view owner;  // empty if nobody holds it
  StoreTime ends;
  model::LockSpec spec;  // what such a key can say
  Micros rounding{};     // its ttl may be this much longer than our lease
  // What the holder says of itself, where the key tells.
  std::string_view words;
  std::optional<StoreTime> since;
};

std::optional<StoreTime> time_from(std::string_view digits) {
  const auto us = parse_digits(digits);
  if (!us) return std::nullopt;
  return StoreTime(Micros(static_cast<std::int64_t>(*us)));
}

SharedKey shared_key_from(const Elements& reply, StoreTime now) {
  const auto left_ms = reply[6].integer;
  const auto body = parse_body(std::string(reply.text(7)) + std::string(tail_bytes - 12, '0'));
  return {.owner = reply.text(5),
          .ends = now + (left_ms < 0 ? for_ever : Micros(std::chrono::milliseconds(left_ms))),
          .spec = body ? body->spec : model::LockSpec::mutex(),
          .rounding = reply.time(8),
          .words = reply.text(9),
          .since = time_from(reply.text(10))};
}

// The ttl of the key is what everybody else goes by. The same as in mirror.lua.
void follow_ttl(const SharedKey& key, decltype(model::LockState::holds)& holds) {
  for (auto& hold : holds) {
    const bool is_strangers = hold.request == model::RequestId::any;
    if (is_strangers || hold.expires > key.ends) hold.expires = key.ends;
    // The same owner may have come again with something else to say of itself.
    if (is_strangers && !key.words.empty()) hold.metadata = parse_metadata(key.words);
    if (is_strangers && key.since) hold.since = *key.since;
  }
  if (holds.back().expires + key.rounding < key.ends) holds.back().expires = key.ends;
}

// In a dialect the shared key has the last word: what is there holds the lock, whoever that is.
void believe(const SharedKey& key, Snapshot& seen) {
  auto& holds = seen.state.holds;
  const bool known =
      !holds.empty() && !key.owner.empty() && holds.front().owner.view() == key.owner;
  if (known) return follow_ttl(key, holds);
  holds.clear();
  auto stranger = OwnerId::make(key.owner);
  if (!stranger) return;
  if (seen.state.queue.empty()) seen.state.spec = key.spec;
  holds.push_back(model::Hold{.owner = std::move(*stranger),
                              .permits = key.spec.capacity,
                              .expires = key.ends,
                              .since = key.since.value_or(seen.at),
                              .metadata = parse_metadata(key.words)});
}

}  // namespace

bool is_behind_a_stranger(const redisReply& reply) {
  const Elements elements(reply);
  return elements.size() == 6 &&
         Code{static_cast<std::uint8_t>(elements.number(1))} == Code::queued &&
         elements.number(5) == 1;
}

Result<Snapshot> decode_snapshot(const redisReply& reply) {
  const Elements elements(reply);
  if (elements.size() < 5) return nonsense("too short");
  Snapshot seen{.at = StoreTime(elements.time(0)), .state = {}};
  if (auto read = decode_state(elements, seen); !read) {
    return std::unexpected(std::move(read.error()));
  }
  constexpr std::size_t with_shared_key = 11;
  if (elements.size() == with_shared_key) believe(shared_key_from(elements, seen.at), seen);
  return seen;
}

Result<store::Reply> decode(const model::LockCommand& command, const redisReply& reply) {
  if (const auto* look = std::get_if<model::Inspect>(&command.verb)) {
    return decode_look(*look, reply);
  }
  if (reply.type == REDIS_REPLY_INTEGER) {
    return decode_short(command, static_cast<std::uint64_t>(reply.integer));
  }
  const Elements elements(reply);
  if (elements.size() < 2) return nonsense("too short");
  const StoreTime now(elements.time(0));
  auto outcome = decode_outcome(Code{static_cast<std::uint8_t>(elements.number(1))}, elements, now);
  if (!outcome) return std::unexpected(std::move(outcome.error()));
  return store::Reply{now, std::move(*outcome)};
}

// "g", fence, time, lease, or "h"; then the identity and the lock's key.
std::optional<Delivery> decode_message(std::string_view payload, const Dialect& dialect) {
  constexpr std::size_t width = 16;
  const bool grants = payload.starts_with('g');
  if (!grants && !payload.starts_with('h')) return std::nullopt;
  payload.remove_prefix(1);
  std::optional<model::Grant> grant;
  if (grants) {
    if (payload.size() < 3 * width) return std::nullopt;
    const auto fence = parse_digits(payload.substr(0, width));
    const auto at = parse_digits(payload.substr(width, width));
    const auto lease = parse_digits(payload.substr(2 * width, width));
    if (!fence || !at || !lease) return std::nullopt;
    grant = model::Grant{*fence, StoreTime(Micros(static_cast<std::int64_t>(*at))),
                         Micros(static_cast<std::int64_t>(*lease))};
    payload.remove_prefix(3 * width);
  }
  const auto nul = payload.find('\0');
  if (nul == std::string_view::npos) return std::nullopt;
  auto who = parse_identity(payload.substr(0, nul));
  auto name = dialect.name_of_state_key(payload.substr(nul + 1));
  if (!who || !name) return std::nullopt;
  return Delivery{std::move(*name), model::Message{.process = model::ProcessId::none,
                                                   .owner = std::move(who->owner),
                                                   .request = who->request,
                                                   .grant = grant}};
}

}  // namespace holdfast::backends::redis
