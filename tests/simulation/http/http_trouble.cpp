// SPDX-License-Identifier: Apache-2.0
//
// What goes wrong with the servers of the `http:` world, and between them and their clients.
#include "simulation/http/http_servers.hpp"

#include <algorithm>

namespace holdfast::simulation {

namespace {

// Until a stream is open again and its waiters have asked: the pause between two attempts is a
// second at most.
constexpr Time streams_are_back_within = 2500 * millisecond;

}  // namespace

void HttpServers::trouble_a_process(history::ProcessId number) {
  if (dice_.one_in(faults_->partition)) {
    const Time until = now_ + dice_.mostly_short(plan_.http.longest_stall);
    const auto direction = dice_.between(1, 3);
    recorder_.fault(What::unreachable, number, until).delays = true;
    if (direction != 2) client(number).up_cut_until = until;
    if (direction != 1) client(number).down_cut_until = until;
  }
  if (dice_.one_in(faults_->cut_subscription)) reset_lines_of(number);
  if (fronts_.size() > 1 && dice_.one_in(faults_->failover)) {
    client(number).front = dice_.below(fronts_.size());
    reset_lines_of(number);
  }
}

void HttpServers::trouble_the_store() {
  if (dice_.one_in(faults_->force)) force_something();
  if (dice_.one_in(faults_->step_clock)) {
    const Time by = dice_.mostly_short(10 * plan_.ttl) * (dice_.one_in(2) ? 1 : -1);
    note_clock_step(by);
    server_.step_clock(by);
  }
  if (dice_.one_in(plan_.http.stall)) {
    const Time until = now_ + dice_.between(0, plan_.http.longest_stall);
    recorder_.fault(What::unreachable, 0, until).delays = true;
    for (Front& front : fronts_) front.hung_until = std::max(front.hung_until, until);
  }
  if (dice_.one_in(faults_->restart)) {
    restart(dice_.below(fronts_.size()), millisecond + dice_.mostly_short(second));
  }
  if (!dice_.one_in(faults_->amnesia)) return;
  recorder_.fault(What::data_lost, 0);
  server_.forget_everything();
  for (std::size_t front = 0; front < fronts_.size(); ++front) restart(front, millisecond);
}

void HttpServers::restart(std::size_t front, Time away_for) {
  Front& restarted = fronts_[front];
  restarted.up_at = now_ + away_for;
  restarted.free_at = restarted.hung_until = restarted.up_at;
  ++restarted.run;
  recorder_.fault(What::unreachable, 0, restarted.up_at + streams_are_back_within);
  settled_at_ = std::max(settled_at_, restarted.up_at + streams_are_back_within);
  for (history::ProcessId number = 1; number <= clients_.size(); ++number) {
    if (client(number).front == front) reset_lines_of(number);
  }
}

void HttpServers::reset_lines_of(history::ProcessId number) {
  recorder_.fault(What::unreachable, number, now_ + streams_are_back_within);
  settled_at_ = std::max(settled_at_, now_ + streams_are_back_within);
  for (const auto& weak : client(number).lines) {
    if (const auto line = weak.lock()) line->reset();
  }
  drop_streams_of_broken_lines();
}

void HttpServers::force_something() {
  const std::size_t lock = dice_.below(plan_.shared_locks);
  Event& event = recorder_.fault(What::forced, 0);
  event.name = static_cast<history::NameId>(lock + 1);
  const std::size_t index = recorder_.history.events.size() - 1;
  const Fence fence = server_.force(lock);
  recorder_.history.events[index].fence = fence;
  on_forced(lock, fence);
  tell_waiters(lock);
}

void HttpServers::crash(history::ProcessId number, Time noticed_after) {
  outside.add(outside_time(now_ + noticed_after), [this, number] {
    for (const auto& weak : client(number).lines) {
      if (const auto line = weak.lock()) line->reset();
    }
    drop_streams_of_broken_lines();
  });
}

void HttpServers::heal() {
  end_faults();
  for (Front& front : fronts_) front.hung_until = now_;
  for (history::ProcessId number = 1; number <= clients_.size(); ++number) {
    HttpClient& healed = client(number);
    healed.up_cut_until = healed.down_cut_until = 0;
    healed.process->stop_until(now_);
    // What is held up is gone.
    const bool is_held_up = std::ranges::any_of(healed.lines, [this](const auto& weak) {
      const auto line = weak.lock();
      return line && line->last_arrival() > now_ + 4 * plan_.latency;
    });
    if (is_held_up && !healed.line->is_gone()) reset_lines_of(number);
  }
}

Time HttpServers::away_for() const { return std::max<Time>(0, settled_at_ - now_); }

}  // namespace holdfast::simulation
