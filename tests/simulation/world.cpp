// SPDX-License-Identifier: Apache-2.0
#include "simulation/world.hpp"

#include "simulation/worker.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::simulation {

namespace {

constexpr unsigned most_processes = 8;
constexpr unsigned longest_history_ttls = 60;

std::shared_ptr<const ProcessInfo> nobody_in_particular() {
  static const auto info = std::make_shared<const ProcessInfo>();
  return info;
}

}  // namespace

World::World(std::uint64_t seed)
    : dice_(seed),
      plan_(make_plan(dice_)),
      recorder_(now_),
      network_(now_, plan_, dice_, recorder_),
      server_(now_, plan_, recorder_, network_),
      resources_(plan_.locks.size()) {
  recorder_.begin(plan_);
  network_.connect(server_);
}

World::~World() = default;

void World::start_process() {
  auto client = std::make_unique<Client>();
  client->id = static_cast<history::ProcessId>(clients_.size() + 1);
  client->process = std::make_shared<Process>(now_, dice_.next());
  client->line = std::make_shared<Line>(client->id, client->process, plan_, recorder_, network_);
  client->core =
      std::make_shared<client::Core>(client->line, client->process, nobody_in_particular());
  network_.join(client->process, client->line);
  for (unsigned i = 0; i < plan_.workers; ++i) {
    client->workers.push_back(std::make_unique<Worker>(*this, *client, i));
    client->workers.back()->start();
  }
  alive_.emplace_back(client->process.get(), client.get());
  clients_.push_back(std::move(client));
}

bool World::run() {
  for (unsigned i = 0; i < plan_.processes; ++i) start_process();
  if (plan_.faults.any_trouble()) trouble();
  const Time limit = longest_history_ttls * plan_.ttl;
  while (recorder_.grants < plan_.enough_grants && turn(limit)) {
  }
  calm_down();
  const Time end = now_ + 4 * plan_.ttl + stepped_back_ + network_.server_away_for();
  while (!everybody_is_done() && turn(end)) {
  }
  if (!everybody_is_done()) now_ = end;
  recorder_.add(What::ended, 0);
  return come_to_an_end();
}

// The next thing that happens anywhere.
bool World::turn(Time limit) {
  const auto next = next_turn(network_.at_server, alive_, limit);
  if (!next) return false;
  now_ = std::max(now_, next->at);
  if (!next->client) {
    (*network_.at_server.pop_due(outside_time(now_)))();
  } else if (plan_.faults.stop == 0 || calm_ || !dice_.one_in(plan_.faults.stop)) {
    next->client->process->turn();
  } else {
    network_.stop(next->client->id, now_ + dice_.mostly_short(3 * plan_.ttl));
  }
  return true;
}

Client* World::somebody() {
  Client* client = clients_[dice_.below(clients_.size())].get();
  return client->is_gone() ? nullptr : client;
}

void World::trouble() {
  const Time pause = dice_.between(plan_.ttl / 10, plan_.ttl);
  network_.at_server.add(outside_time(now_ + pause), [this] {
    if (calm_) return;
    trouble_a_client();
    trouble_the_server();
    trouble();
  });
}

void World::trouble_a_client() {
  const Faults& faults = plan_.faults;
  Client* client = somebody();
  if (!client) return;
  if (dice_.one_in(faults.partition)) {
    const auto direction = static_cast<Network::Direction>(dice_.between(1, 3));
    network_.cut(client->id, direction, now_ + dice_.mostly_short(4 * plan_.ttl));
  }
  if (dice_.one_in(faults.cut_subscription)) {
    network_.cut_subscription(client->id, now_ + dice_.mostly_short(2 * plan_.ttl));
  }
  if (dice_.one_in(faults.crash) && clients_.size() < most_processes) {
    recorder_.fault(What::stopped, client->id, history::for_ever);
    client->line->hang_up();
    std::erase_if(alive_, [client](const auto& each) { return each.second == client; });
    network_.crash(client->id, dice_.mostly_short(2 * second));
    start_process();
  }
}

void World::trouble_the_server() {
  const Faults& faults = plan_.faults;
  if (dice_.one_in(faults.force)) force_something();
  if (dice_.one_in(faults.step_clock)) {
    const Time by = dice_.mostly_short(10 * plan_.ttl) * (dice_.one_in(2) ? 1 : -1);
    recorder_.fault(What::clock_stepped, 0).number = by;
    server_.step_clock(by);
    if (by < 0) stepped_back_ -= by;
  }
  const bool forgets = dice_.one_in(faults.amnesia);
  if (!forgets && !dice_.one_in(faults.restart)) {
    if (dice_.one_in(faults.failover)) fail_over();
    return;
  }
  const Time away_until = now_ + millisecond + dice_.mostly_short(second);
  recorder_.fault(What::unreachable, 0, away_until);
  network_.server_down(away_until);
  if (!forgets) return;
  recorder_.fault(What::data_lost, 0);
  server_.forget_everything();
}

// The replica that takes over knows what the primary knew a moment before it died.
void World::fail_over() {
  server_.keep_copy();
  network_.at_server.add(outside_time(now_ + dice_.mostly_short(second)), [this] {
    if (calm_ || !server_.has_copy()) return;
    const Time away_until = now_ + dice_.between(50, 1000) * millisecond;
    recorder_.fault(What::unreachable, 0, away_until);
    recorder_.fault(What::data_lost, 0);
    network_.server_down(away_until);
    server_.return_to_copy();
  });
}

void World::force_something() {
  if (!network_.is_server_up()) return;
  const std::size_t lock = dice_.below(plan_.locks.size());
  Event& event = recorder_.fault(What::forced, 0);
  event.name = static_cast<history::NameId>(lock + 1);
  const std::size_t index = recorder_.history.events.size() - 1;
  const Fence fence = server_.force(lock);
  // Whoever was ousted is kept out from now on, whatever it still believes.
  recorder_.history.events[index].fence = fence;
  resources_[lock].newest = std::max(resources_[lock].newest, fence);
  network_.tell_waiters(lock);
}

void World::calm_down() {
  calm_ = true;
  network_.heal();
  recorder_.add(What::calm, 0).until = now_ + stepped_back_ + network_.server_away_for();
  for (const auto& [process, client] : alive_) {
    for (const auto& worker : client->workers) worker->wake_up();
  }
}

bool World::everybody_is_done() const {
  return std::ranges::all_of(clients_, [](const auto& client) {
    return client->is_gone() || std::ranges::all_of(client->workers, [](const auto& worker) {
             return worker->is_done();
           });
  });
}

bool World::come_to_an_end() {
  for (const auto& client : clients_) {
    client->process->stop_until(0);
    client->process->post([line = client->line] { line->hang_up(); });
    client->process->turn();
  }
  return drain(now_, clients_);
}

}  // namespace holdfast::simulation
