// SPDX-License-Identifier: Apache-2.0
//
// The words of the format: which events there are, and which fields each of them has.
#pragma once

#include "history/history.hpp"

#include <array>
#include <optional>
#include <string_view>

namespace holdfast::history {

enum class Field : std::uint8_t {
  at_ns,
  event,
  op,
  name,
  process,
  owner,
  permits,
  capacity,
  reentrant,
  fifo,
  waits,
  converts,
  ttl_ns,
  give_up_ns,
  place,
  fence,
  until_ns,
  since_ns,
  detail,
  value,
  accepted,
  by,
  left,
  step_ns,
  patience_ns,
  renews,
  max_hold_ns,
  least_ttl_ns,
  claim,
  delays,
};

inline constexpr std::array<std::string_view, 30> field_names{
    "at_ns",       "event",      "op",          "name",         "process",  "owner",
    "permits",     "capacity",   "reentrant",   "fifo",         "waits",    "converts",
    "ttl_ns",      "give_up_ns", "place",       "fence",        "until_ns", "since_ns",
    "detail",      "value",      "accepted",    "by",           "left",     "step_ns",
    "patience_ns", "renews",     "max_hold_ns", "least_ttl_ns", "claim",    "delays"};

// A set of fields.
using Fields = std::uint32_t;
constexpr Fields bit(Field field) { return 1U << static_cast<unsigned>(field); }
template <typename... Each>
constexpr Fields set_of(Each... fields) {
  return (0U | ... | bit(fields));
}

struct EventFormat {
  std::string_view name;
  Fields required = 0;  // besides at_ns and event
  Fields optional = 0;
};

// By What.
inline constexpr std::array<EventFormat, 21> event_formats{{
    {"asked", set_of(Field::op, Field::name, Field::process, Field::ttl_ns),
     set_of(Field::owner, Field::permits, Field::capacity, Field::reentrant, Field::fifo,
            Field::waits, Field::converts, Field::give_up_ns, Field::renews, Field::max_hold_ns,
            Field::least_ttl_ns)},
    {"queued", set_of(Field::op, Field::place)},
    {"granted", set_of(Field::op, Field::fence, Field::until_ns), set_of(Field::claim)},
    {"renewing", set_of(Field::op)},
    {"renewed", set_of(Field::op, Field::since_ns, Field::until_ns), set_of(Field::fence)},
    {"failed", set_of(Field::op, Field::detail)},
    {"releasing", set_of(Field::op)},
    {"released", set_of(Field::op, Field::detail)},
    {"lost", set_of(Field::op)},
    {"read", set_of(Field::op, Field::fence, Field::value, Field::accepted),
     set_of(Field::since_ns)},
    {"wrote", set_of(Field::op, Field::fence, Field::value, Field::accepted),
     set_of(Field::since_ns)},
    {"held", set_of(Field::op, Field::fence, Field::until_ns), set_of(Field::since_ns)},
    {"freed", set_of(Field::op), set_of(Field::by, Field::left)},
    {"self_blocked", set_of(Field::op)},
    {"unreachable", set_of(Field::until_ns), set_of(Field::process, Field::delays)},
    {"stopped", set_of(Field::until_ns), set_of(Field::process)},
    {"data_lost"},
    {"clock_stepped", set_of(Field::step_ns)},
    {"forced", set_of(Field::name), set_of(Field::fence)},
    {"calm", 0, set_of(Field::patience_ns)},
    {"ended"},
}};
static_assert(event_formats.size() == static_cast<std::size_t>(What::ended) + 1);

// By Detail.
inline constexpr std::array<std::string_view, 12> detail_names{
    "none",      "released",  "already_expired", "held_by_another", "busy",
    "timed_out", "cancelled", "unavailable",     "outcome_unknown", "lost",
    "not_held",  "other"};
static_assert(detail_names.size() == static_cast<std::size_t>(Detail::other) + 1);

}  // namespace holdfast::history
