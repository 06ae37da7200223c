// SPDX-License-Identifier: Apache-2.0
#include "text/json.hpp"

#include "text/error_codes.hpp"
#include "text/words.hpp"

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

namespace holdfast::text {
namespace {

namespace json = boost::json;
using std::chrono::milliseconds;

std::int64_t whole_ms(Micros duration) {
  return std::chrono::floor<milliseconds>(duration).count();
}

// A store whose clock began again after a reboot may count from before its own beginning.
Micros elapsed(Micros duration) { return std::max(duration, Micros::zero()); }

json::value permits_value(std::uint32_t permits) {
  if (permits == all_permits) return "all";
  return permits;
}

bool is_exclusive(Kind kind, std::uint32_t permits) {
  return permits == all_permits || kind == Kind::reentrant || kind == Kind::election;
}

std::string_view mode_word(Kind kind, std::uint32_t permits) {
  return is_exclusive(kind, permits) ? "exclusive" : "shared";
}

json::value text_or_null(const std::string& text) {
  if (text.empty()) return nullptr;
  return json::string(text);
}

// The fields are always there, so that a reader need not ask: null where nothing is known.
void put_metadata(const Metadata* metadata, json::object& out) {
  static const Metadata nothing;
  static const ProcessInfo nobody;
  const auto& said = metadata != nullptr ? *metadata : nothing;
  const auto& process = said.process ? *said.process : nobody;
  out["host"] = text_or_null(process.host);
  out["pid"] = said.process ? json::value(process.pid) : json::value(nullptr);
  out["program"] = text_or_null(process.program);
  out["source"] = text_or_null(said.source);
  out["note"] = text_or_null(said.note);
}

json::value party_value(std::uint64_t party) {
  if (party == 0) return nullptr;
  return json::string(fmt::format("{:016x}", party));
}

// An event says less of its holder than a listing does, and nothing of what is not known.
void put_known(const Metadata& said, json::object& out) {
  if (said.process) {
    if (!said.process->host.empty()) out["host"] = said.process->host;
    out["pid"] = said.process->pid;
    if (!said.process->program.empty()) out["program"] = said.process->program;
  }
  if (!said.note.empty()) out["note"] = said.note;
}

}  // namespace

std::string_view to_word(EventType type) noexcept {
  constexpr std::array<std::string_view, 10> words{"acquired",      "queued",  "left", "renewed",
                                                   "released",      "expired", "lost", "forced",
                                                   "store_changed", "deadlock"};
  const auto at = static_cast<std::size_t>(type);
  assert(at < words.size());
  return words[at];
}

std::string format_time(WallTime time) {
  const auto ms = std::chrono::floor<milliseconds>(time);
  const auto day = std::chrono::floor<std::chrono::days>(ms);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(ms - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                     clock.subseconds().count());
}

json::object to_json(const HolderView& holder, Kind kind, WallTime now) {
  json::object out{{"fence", holder.fence},
                   {"permits", permits_value(holder.permits)},
                   {"mode", mode_word(kind, holder.permits)},
                   {"party", party_value(holder.party)},
                   {"claimed", holder.claimed},
                   {"expires_in_ms", whole_ms(holder.remaining)},
                   {"acquired_at", format_time(now - elapsed(holder.held_for))},
                   {"held_ms", whole_ms(elapsed(holder.held_for))}};
  put_metadata(holder.metadata.get(), out);
  if (kind == Kind::election) out["value"] = holder.metadata ? holder.metadata->value : "";
  return out;
}

json::object to_json(const WaiterView& waiter, Kind kind) {
  json::object out{{"permits", permits_value(waiter.permits)},
                   {"mode", mode_word(kind, waiter.permits)},
                   {"party", party_value(waiter.party)},
                   {"waiting_ms", whole_ms(elapsed(waiter.waiting_for))}};
  put_metadata(waiter.metadata.get(), out);
  return out;
}

json::object to_json(const MemberView& member) {
  return {{"address", member.address},
          {"state", to_string(member.state)},
          {"counts", member.counts},
          {"fence", member.fence != 0 ? json::value(member.fence) : json::value(nullptr)},
          {"party", party_value(member.party)},
          {"holders", member.holders},
          {"expires_in_ms", whole_ms(member.remaining)},
          {"reason", text_or_null(member.reason)}};
}

json::object to_json(const LockView& lock, WallTime now) {
  json::array holders;
  for (const auto& holder : lock.holders) holders.emplace_back(to_json(holder, lock.kind, now));
  json::array waiters;
  for (const auto& waiter : lock.waiters) waiters.emplace_back(to_json(waiter, lock.kind));
  const bool limited = lock.capacity != all_permits;
  json::object out{{"name", lock.name},
                   {"kind", to_word(lock.kind)},
                   {"capacity", limited ? json::value(lock.capacity) : json::value(nullptr)},
                   {"order", to_word(lock.order)},
                   {"holders", std::move(holders)},
                   {"waiters", std::move(waiters)}};
  if (lock.members.empty()) return out;
  json::array members;
  for (const auto& member : lock.members) members.emplace_back(to_json(member));
  out["members"] = std::move(members);
  return out;
}

json::object to_json(const LockPage& page, WallTime now) {
  json::array locks;
  for (const auto& lock : page.locks) locks.emplace_back(to_json(lock, now));
  return {{"locks", std::move(locks)}, {"next", text_or_null(page.next)}};
}

json::object to_json(const LeaseFields& lease, WallTime now) {
  return {{"name", lease.name},
          {"owner", lease.owner},
          {"fence", lease.fence},
          {"expires_at", format_time(now + lease.remaining)},
          {"expires_in_ms", whole_ms(lease.remaining)}};
}

json::object to_json(const EventFields& event) {
  json::object out{{"id", event.id},
                   {"type", to_word(event.type)},
                   {"name", event.name},
                   {"at", format_time(event.at)}};
  if (event.fence) out["fence"] = *event.fence;
  if (!event.reason.empty()) out["reason"] = event.reason;
  out["source"] = event.source == EventSource::server ? "server" : "observed";
  if (!event.principal.empty()) out["principal"] = event.principal;
  if (event.kind) out["kind"] = to_word(*event.kind);
  if (event.kind && event.permits) out["mode"] = mode_word(*event.kind, *event.permits);
  if (event.holder != nullptr) put_known(*event.holder, out);
  if (event.party != 0) out["party"] = party_value(event.party);
  if (event.remaining) out["expires_in_ms"] = whole_ms(*event.remaining);
  if (event.waited) out["waited_ms"] = whole_ms(*event.waited);
  if (event.held) out["held_ms"] = whole_ms(*event.held);
  return out;
}

json::object to_json(const LockEvent& event) {
  json::object out{{"type", event.what},
                   {"at", format_time(std::chrono::floor<Micros>(event.at))},
                   {"fence", event.fence},
                   {"permits", permits_value(event.permits)}};
  put_metadata(event.metadata.get(), out);
  return out;
}

json::object to_json(const Error& error) {
  return {{"code", to_string(error.code)},
          {"message", error.message},
          {"exit_code", exit_code(error.code)}};
}

}  // namespace holdfast::text
