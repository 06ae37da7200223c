// SPDX-License-Identifier: Apache-2.0
#include "simulation/quorum/world.hpp"

#include "backends/quorum/quorum_store.hpp"
#include "backends/quorum/vote.hpp"
#include "simulation/quorum/worker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

namespace holdfast::simulation::quorum {

namespace {

constexpr unsigned most_clients = 8;
// What is given back in the background is tried again after a second at most.
constexpr Time promptly = 2500 * millisecond;

history::ProcessId number_of(std::size_t member) {
  return members_from + static_cast<history::ProcessId>(member);
}

}  // namespace

World::World(std::uint64_t seed, Hole hole)
    : dice_(seed),
      hole_(hole),
      plan_(make_plan(seed, hole, dice_)),
      recorder_(now_),
      network_(now_, plan_, dice_, recorder_),
      asked_before_(plan_.names.size()) {
  for (const LockName& name : plan_.names) recorder_.history.names.push_back(name.str());
}

World::~World() = default;

Promises World::promises() const {
  return {.fences = plan_.options.fences, .exclusive_until = first_step_};
}

OpId World::asked(const Attempt& attempt, const OwnerId& owner) {
  over_.push_back(false);
  return recorder_.asked(attempt, owner);
}

void World::forced(history::ProcessId process, std::size_t lock, Fence fence) {
  asked_before_[lock] = static_cast<OpId>(recorder_.history.attempts.size());
  Event& event = recorder_.fault(What::forced, process);
  event.name = static_cast<history::NameId>(lock + 1);
  event.fence = fence;
}

std::vector<std::size_t> World::members_with(OpId op) const {
  const Attempt& attempt = recorder_.history.attempt(op);
  std::vector<std::size_t> found;
  for (std::size_t member = 0; member < plan_.members(); ++member) {
    const auto holds = network_.member(member).holds(attempt.name - 1);
    // Of an owner that entered again it cannot be told which lease is whose.
    const bool has_it = std::ranges::any_of(holds, [&](const model::Hold& hold) {
      return attempt.owner == op && recorder_.op_of(hold.owner) == op &&
             !network_.is_stray(member, hold.request);
    });
    if (has_it) found.push_back(member);
  }
  return found;
}

// A clock that was set ends leases early, and an operator when he likes.
void World::lost(OpId op) {
  const Attempt& attempt = recorder_.history.attempt(op);
  if (first_step_ <= now_ || op <= asked_before_[attempt.name - 1]) return;
  const auto members = members_with(op);
  if (!network_.had_a_majority(attempt.process - 1, members, attempt.ttl)) return;
  broken(history::Rule::needless_loss,
         fmt::format("#{} was lost at {:.6f} s, although a majority had it and answered for a ttl",
                     op, static_cast<double>(now_) / 1e9));
}

void World::start_client() {
  auto client = std::make_unique<Client>();
  client->id = static_cast<history::ProcessId>(clients_.size() + 1);
  client->process = std::make_shared<Process>(now_, dice_.next());
  std::vector<backends::quorum::MemberStore> stores;
  for (std::size_t i = 0; i < plan_.members(); ++i) {
    client->lines.push_back(
        std::make_shared<Line>(LineId{clients_.size(), i}, client->process, network_));
    stores.push_back({client->lines.back(), client->lines.back()->describe()});
  }
  network_.join(client->process, client->lines);
  auto store =
      backends::quorum::make_quorum_store(std::move(stores), plan_.options, client->process)
          .value();
  client->core =
      std::make_shared<client::Core>(store, client->process, std::make_shared<const ProcessInfo>());
  store->on_change([weak = std::weak_ptr(client->core)] {
    if (const auto core = weak.lock()) core->confirm_leases();
  });
  for (unsigned i = 0; i < plan_.workers; ++i) {
    client->workers.push_back(std::make_unique<Worker>(*this, *client));
    client->workers.back()->start();
  }
  alive_.emplace_back(client->process.get(), client.get());
  clients_.push_back(std::move(client));
}

void World::run() {
  for (unsigned i = 0; i < plan_.clients; ++i) start_client();
  trouble();
  while (recorder_.grants < plan_.enough_grants && turn(plan_.longest)) {
  }
  calm_down();
  come_to_an_end();
  recorder_.add(What::ended, 0);
  if (!hang_up_and_drain()) {
    broken(history::Rule::renewals_end, "a client went on for ever after everything was over");
  }
}

// The next thing that happens anywhere.
bool World::turn(Time limit) {
  const auto next = next_turn(network_.at_members, alive_, limit);
  if (!next) return false;
  now_ = std::max(now_, next->at);
  if (!next->client) {
    (*network_.at_members.pop_due(outside_time(now_)))();
  } else if (!calm_ && dice_.one_in(plan_.faults.stop)) {
    const Time until = now_ + dice_.mostly_short(2 * plan_.ttl);
    recorder_.fault(What::stopped, next->client->id, until);
    next->client->process->stop_until(until);
    network_.stopped(next->client->id - 1, until);
  } else {
    next->client->process->turn();
    for (const auto& worker : next->client->workers) worker->look_at_lease();
  }
  return true;
}

void World::run_until(Time end) {
  while (turn(end)) {
  }
  now_ = std::max(now_, end);
}

void World::trouble() {
  const Time pause = dice_.between(plan_.ttl / 10, plan_.ttl);
  network_.at_members.add(outside_time(now_ + pause), [this] {
    if (calm_) return;
    trouble_a_client();
    trouble_a_member();
    trouble();
  });
}

void World::trouble_a_client() {
  const std::size_t number = dice_.below(clients_.size());
  Client& client = *clients_[number];
  if (client.is_gone()) return;
  const LineId line{number, dice_.below(plan_.members())};
  if (dice_.one_in(plan_.faults.cut)) {
    const Time until = now_ + dice_.mostly_short(3 * plan_.ttl);
    recorder_.fault(What::unreachable, client.id, until).number = number_of(line.member);
    network_.cut(line, static_cast<Network::Direction>(dice_.between(1, 3)), until);
  }
  if (dice_.one_in(plan_.faults.reset)) {
    recorder_.harmless_fault();
    network_.reset(line);
  }
  if (dice_.one_in(plan_.faults.crash) && clients_.size() < most_clients) {
    recorder_.fault(What::stopped, client.id, history::for_ever);
    for (const auto& each : client.lines) each->hang_up();
    std::erase_if(alive_, [&client](const auto& each) { return each.second == &client; });
    network_.crash(number, dice_.mostly_short(second));
    start_client();
  }
  if (dice_.one_in(plan_.faults.join) && clients_.size() < most_clients) start_client();
}

void World::trouble_a_member() {
  const Faults& faults = plan_.faults;
  const std::size_t member = dice_.below(plan_.members());
  if (dice_.one_in(faults.cut)) {
    const Time until = now_ + dice_.mostly_short(2 * plan_.ttl);
    recorder_.fault(What::unreachable, number_of(member), until);
    for (std::size_t i = 0; i < clients_.size(); ++i) {
      network_.cut({i, member}, Network::Direction::both, until);
    }
  }
  if (dice_.one_in(faults.step_clock)) {
    const Time by = dice_.mostly_short(5 * second) * (dice_.one_in(2) ? 1 : -1);
    recorder_.fault(What::clock_stepped, number_of(member)).number = by;
    network_.member(member).step_clock(by);
    if (by < 0) stepped_back_ -= by;
    first_step_ = std::min(first_step_, now_);
  }
  if (dice_.one_in(faults.bend_clock)) {
    recorder_.harmless_fault();
    network_.member(member).bend_clock(dice_.between(-plan_.fastest_ppm, plan_.fastest_ppm));
  }
  if (dice_.one_in(faults.restart)) restart(member);
  if (now_ >= rolled_until_ && dice_.one_in(faults.roll)) {
    const Time every = dice_.between(plan_.ttl / 6, plan_.ttl / 2) + 500 * millisecond;
    rolled_until_ = now_ + static_cast<Time>(plan_.members()) * every + plan_.ttl;
    roll(0, every);
  }
  if (!dice_.one_in(faults.amnesia)) return;
  const bool most_of_them =
      hole_ == Hole::majority_forgets || (hole_ == Hole::none && dice_.one_in(8));
  const std::size_t count = most_of_them ? backends::quorum::majority_of(plan_.members()) : 1;
  for (std::size_t i = 0; i < count; ++i) forget((member + i) % plan_.members());
}

void World::restart(std::size_t member) {
  const Time up_at = now_ + millisecond + dice_.mostly_short(second);
  recorder_.fault(What::unreachable, number_of(member), up_at);
  network_.restart(member, up_at, false);
}

void World::roll(std::size_t member, Time every) {
  if (calm_ || member == plan_.members()) return;
  if (plan_.members_keep_memory) {
    const Time up_at = now_ + millisecond + dice_.mostly_short(every / 4);
    recorder_.fault(What::unreachable, number_of(member), up_at);
    network_.restart(member, up_at, false);
  } else {
    forget(member);
  }
  network_.at_members.add(outside_time(now_ + every),
                          [this, member, every] { roll(member + 1, every); });
}

void World::forget(std::size_t member) {
  for (std::size_t other = 0; hole_ == Hole::no_grace && other < plan_.members(); ++other) {
    // One at a time: everything that another one forgot has ended.
    if (other != member && now_ < network_.member(other).up_at() + 2 * plan_.ttl) return;
  }
  const Time up_at = now_ + millisecond + dice_.mostly_short(second);
  recorder_.fault(What::unreachable, number_of(member), up_at);
  recorder_.fault(What::data_lost, number_of(member));
  network_.restart(member, up_at, true);
}

Time World::patience() const {
  Time longest = 0;
  const Time grace = plan_.options.grace.count() * microsecond;
  for (std::size_t i = 0; i < plan_.members(); ++i) {
    const Time up_at = network_.member(i).up_at();
    // Uptimes are told in whole seconds.
    longest = std::max(longest, up_at + grace + 2 * second - now_);
  }
  return longest + 2 * plan_.ttl + plan_.ttl / 50 + stepped_back_ + 3 * second;
}

void World::calm_down() {
  calm_ = true;
  network_.heal();
  recorder_.add(What::calm, 0).until = now_;
  const Time since = now_;
  const Time limit = now_ + patience();
  const std::vector<bool> over = over_;
  run_until(since + promptly);
  check_promptly_given_back(over);
  while (!is_each_lock_served_since(since) && turn(limit)) {
  }
  if (!is_each_lock_served_since(since)) {
    broken(history::Rule::everybody_served,
           fmt::format("nobody got a lock in {} ms without faults", (limit - since) / millisecond));
  }
}

bool World::is_each_lock_served_since(Time since) const {
  std::vector<bool> served(plan_.names.size());
  const auto& events = recorder_.history.events;
  for (auto event = events.rbegin(); event != events.rend() && event->at >= since; ++event) {
    if (event->what == What::granted) served[recorder_.history.attempt(event->op).name - 1] = true;
  }
  return std::ranges::all_of(served, std::identity{});
}

void World::come_to_an_end() {
  ending_ = true;
  for (const auto& [process, client] : alive_) {
    for (const auto& worker : client->workers) worker->cancel();
  }
  const Time limit = now_ + 10 * second;
  while (!everybody_is_done() && turn(limit)) {
  }
  if (!everybody_is_done()) {
    broken(history::Rule::everybody_served, "a client that was cancelled came to no end");
  }
  run_until(now_ + plan_.ttl + plan_.ttl / 100 + second + stepped_back_);
  check_nothing_left();
}

// What live clients gave up before the faults ended. Whatever only a late copy of a request left
// there ends by itself. After a clock was set back a lease is there for longer than it is given
// back.
void World::check_promptly_given_back(const std::vector<bool>& over) {
  if (stepped_back_ > 0) return;
  for (std::size_t member = 0; member < plan_.members(); ++member) {
    for (std::size_t lock = 0; lock < plan_.names.size(); ++lock) {
      for (const model::Hold& hold : network_.member(member).holds(lock)) {
        const OpId op = recorder_.op_of(hold.owner);
        const auto process = recorder_.history.attempt(op).process;
        const OpId outer = recorder_.history.attempt(op).owner;
        const bool is_over = op <= over.size() && over[op - 1] && (outer == 0 || over[outer - 1]);
        if (!is_over || clients_[process - 1]->is_gone()) continue;
        if (network_.is_stray(member, hold.request)) continue;
        broken(history::Rule::orphans_vanish,
               fmt::format("member {} still has what #{} gave up", member + 1, op));
      }
    }
  }
}

void World::check_nothing_left() {
  for (std::size_t member = 0; member < plan_.members(); ++member) {
    for (std::size_t lock = 0; lock < plan_.names.size(); ++lock) {
      for (const model::Hold& hold : network_.member(member).holds(lock)) {
        broken(history::Rule::orphans_vanish, fmt::format("member {} still has a lease of #{}",
                                                          member + 1, recorder_.op_of(hold.owner)));
      }
      for (const model::Waiter& waiter : network_.member(member).waiters(lock)) {
        const OpId op = recorder_.op_of(waiter.owner);
        const auto process = recorder_.history.attempt(op).process;
        const bool ends_by_itself = clients_[process - 1]->is_gone() ||
                                    network_.is_stray(member, waiter.request) ||
                                    network_.was_cut_for_long({process - 1, member});
        if (ends_by_itself) continue;
        broken(history::Rule::orphans_vanish,
               fmt::format("#{} still stands in line at member {}", op, member + 1));
      }
    }
  }
}

void World::broken(history::Rule rule, std::string why) {
  const std::size_t last = recorder_.history.events.size() - 1;
  violations.push_back({.rule = rule, .event = last, .why = std::move(why)});
}

bool World::everybody_is_done() const {
  return std::ranges::all_of(clients_, [](const auto& client) {
    return client->is_gone() || std::ranges::all_of(client->workers, [](const auto& worker) {
             return worker->is_done();
           });
  });
}

bool World::hang_up_and_drain() {
  for (const auto& client : clients_) {
    client->process->stop_until(0);
    client->process->post([lines = client->lines] {
      for (const auto& line : lines) line->hang_up();
    });
    client->process->turn();
  }
  return drain(now_, clients_);
}

}  // namespace holdfast::simulation::quorum
