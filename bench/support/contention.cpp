// SPDX-License-Identifier: Apache-2.0
#include "support/contention.hpp"

#include <time.h>

#include <algorithm>

namespace holdfast::bench {

namespace {

void sleep_until_ns(std::int64_t until) {
  const timespec time{.tv_sec = until / 1'000'000'000, .tv_nsec = until % 1'000'000'000};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr) != 0) {
  }
}

std::vector<double> to_us(const std::int64_t* first, std::size_t count) {
  std::vector<double> times;
  for (std::size_t i = 0; i < count; ++i) times.push_back(static_cast<double>(first[i]) / 1000);
  return times;
}

}  // namespace

void take_turn(CrowdTable& table, const Crowd& crowd, std::size_t worker, std::int64_t asked_ns) {
  const std::int64_t got = monotonic_ns();
  if (table.stop) {
    table.after_stop += 1;
    return;
  }
  const std::size_t turn = table.total;
  const bool is_first = turn == 0;
  table.waits_ns[turn] = got - asked_ns;
  table.handovers_ns[turn] = is_first ? 0 : got - table.released_ns;
  if (table.last_holder.exchange(worker) != worker) table.hand_overs += 1;
  table.acquired[worker] += 1;
  sleep_until_ns(got + hold_ns);
  table.total = turn + 1;
  if (turn + 1 == crowd.acquisitions()) table.stop = true;
}

CrowdResult watch(CrowdTable& table, const Crowd& crowd, Children& children) {
  using namespace std::chrono_literals;
  if (crowd.workers > most_workers || crowd.acquisitions() > most_acquisitions) {
    give_up("too large a crowd");
  }
  constexpr std::int64_t patience_ns = 60'000'000'000;
  const std::int64_t give_up_at = monotonic_ns() + patience_ns;
  const auto wait_for = [&](const auto& done) {
    while (!done()) {
      if (monotonic_ns() > give_up_at) give_up("the workers do not get on");
      std::this_thread::sleep_for(1ms);
    }
  };
  wait_for([&] { return table.ready == crowd.workers; });
  const std::int64_t began = monotonic_ns();
  table.go = true;
  wait_for([&] { return table.stop.load(); });
  // The last hold ended a moment before the last release began.
  const double seconds = static_cast<double>(monotonic_ns() - began) / 1e9;
  children.wait();
  const auto end = table.acquired.begin() + static_cast<std::ptrdiff_t>(crowd.workers);
  const auto [fewest, most] = std::minmax_element(table.acquired.begin(), end);
  // In the first round the queue is still forming, and all threads begin at once.
  const std::size_t steady = table.total - crowd.workers;
  const auto handovers = to_us(table.handovers_ns.data() + 1, table.total - 1);
  return {.hand_overs_per_s = static_cast<double>(table.hand_overs) / seconds,
          .fairness = static_cast<double>(*fewest) / static_cast<double>(*most),
          .all_acquisitions = static_cast<double>(table.total + table.after_stop),
          .longest_handover_us = *std::max_element(handovers.begin(), handovers.end()),
          .waits_us = to_us(table.waits_ns.data() + crowd.workers, steady),
          .handovers_us = to_us(table.handovers_ns.data() + crowd.workers, steady)};
}

}  // namespace holdfast::bench
