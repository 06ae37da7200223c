// SPDX-License-Identifier: Apache-2.0
#include "simulation/words.hpp"

namespace holdfast::simulation {

using history::Detail;

Detail detail_of(Errc code) {
  switch (code) {
    case Errc::busy: return Detail::busy;
    case Errc::timed_out: return Detail::timed_out;
    case Errc::cancelled: return Detail::cancelled;
    case Errc::unavailable: return Detail::unavailable;
    case Errc::outcome_unknown: return Detail::outcome_unknown;
    case Errc::lost: return Detail::lost;
    case Errc::not_held: return Detail::not_held;
    default: return Detail::other;
  }
}

Detail detail_of(const Result<Released>& released) {
  if (!released) return detail_of(released.error().code);
  switch (*released) {
    case Released::released: return Detail::released;
    case Released::already_expired: return Detail::already_expired;
    case Released::held_by_another: return Detail::held_by_another;
  }
  return Detail::other;
}

}  // namespace holdfast::simulation
