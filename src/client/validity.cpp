// SPDX-License-Identifier: Apache-2.0
#include "client/validity.hpp"

#include <algorithm>

namespace holdfast::client {

using namespace std::chrono_literals;

Micros drift_allowance(Micros lease) { return lease / 100 + 2ms; }

LocalTime valid_until(LocalTime before_send, Micros remaining) {
  return before_send + remaining - drift_allowance(remaining);
}

LocalTime valid_until(const ClockPair& pair, const model::Grant& grant, LocalTime received) {
  const Micros since_pair = grant.at - pair.store;
  const Micros slow = since_pair.count() >= 0 ? since_pair * 99 / 100 : since_pair * 101 / 100;
  const LocalTime granted = std::min<LocalTime>(pair.before_send + slow, received);
  return granted + grant.lease - drift_allowance(grant.lease);
}

std::optional<LocalTime> usable_at_once(const std::optional<ClockPair>& pair,
                                        const model::Grant& grant, LocalTime received) {
  if (!pair) return std::nullopt;
  const LocalTime until = valid_until(*pair, grant, received);
  if (until - received < grant.lease / 2) return std::nullopt;
  return until;
}

Micros lost_margin(Micros ttl) { return std::min<Micros>(ttl / 10, 50ms); }

LocalTime together(LocalTime when, Micros interval) {
  if (interval < 1s) return when;
  const LocalTime::duration grid = std::min<Micros>(interval / 64, 100ms);
  return when - when.time_since_epoch() % grid;
}

Micros between_questions(Standing standing, std::uint64_t random) {
  switch (standing) {
    case Standing::first: return 800ms + Micros(random % 400'000);
    case Standing::first_for_long: return 1600ms + Micros(random % 800'000);
    case Standing::behind: break;
  }
  return 4s + Micros(random % 2'000'000);
}

Micros backstop(const model::Queued& queued, Standing standing, std::size_t in_line,
                std::uint64_t random) {
  constexpr std::size_t crowd = 1250;
  const auto slower =
      standing == Standing::behind ? std::clamp<std::size_t>(in_line / crowd, 1, 8) : 1;
  const Micros regular = between_questions(standing, random) * slower;
  const Micros when_room_may_come = queued.retry_after + 1ms + 20ms * queued.ahead;
  return std::min(regular, when_room_may_come);
}

}  // namespace holdfast::client
