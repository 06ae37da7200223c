// SPDX-License-Identifier: Apache-2.0
#include "client/validity.hpp"

#include <algorithm>

namespace holdfast::client {

using namespace std::chrono_literals;

namespace {

constexpr Micros clock_grain = 2ms;

Micros drift_over(Micros time, Drift drift) {
  return Micros(time.count() / 1'000'000 * drift.ppm +
                time.count() % 1'000'000 * drift.ppm / 1'000'000);
}

}  // namespace

Micros drift_allowance(Micros lease, Drift drift) { return drift_over(lease, drift) + clock_grain; }

LocalTime valid_until(LocalTime before_send, Micros remaining, Drift drift) {
  return before_send + remaining - drift_allowance(remaining, drift);
}

std::optional<LocalTime> valid_until(const ClockPair& pair, const model::Grant& grant,
                                     LocalTime received, Drift drift) {
  const Micros since_pair = grant.at - pair.store;
  // Before the pair was read, our clock may have gone faster than the store's.
  const std::int64_t rate_ppm = since_pair.count() >= 0 ? 1'000'000 : 1'000'000 - drift.ppm;
  const Micros apart = drift_over(std::chrono::abs(since_pair), drift) * 1'000'000 / rate_ppm;
  const LocalTime earliest = pair.before_send + since_pair - apart;
  if (earliest > received + clock_grain) return std::nullopt;
  const LocalTime granted = std::min<LocalTime>(earliest, received);
  return granted + grant.lease - drift_allowance(grant.lease, drift);
}

std::optional<LocalTime> usable_at_once(const std::optional<ClockPair>& pair,
                                        const model::Grant& grant, LocalTime received,
                                        Drift drift) {
  if (!pair) return std::nullopt;
  const auto until = valid_until(*pair, grant, received, drift);
  if (!until || *until - received < grant.lease / 2) return std::nullopt;
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
