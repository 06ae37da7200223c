// SPDX-License-Identifier: Apache-2.0
#include "simulation/world.hpp"

#include "simulation/worker.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::simulation {

namespace {

constexpr unsigned most_processes = 8;

std::shared_ptr<const ProcessInfo> nobody_in_particular() {
  static const auto info = std::make_shared<const ProcessInfo>();
  return info;
}

}  // namespace

World::World(std::uint64_t seed, StoreKind kind)
    : dice_(seed),
      plan_(make_plan(kind, dice_)),
      recorder_(now_),
      environment_(make_environment(now_, plan_, dice_, recorder_)),
      resources_(plan_.locks.size()),
      sleepers_(~seed) {
  recorder_.begin(plan_);
  environment_->on_forced = [this](std::size_t lock, Fence fence) {
    resources_[lock].newest = std::max(resources_[lock].newest, fence);
  };
}

World::~World() = default;

void World::start_process() {
  auto client = std::make_unique<Client>();
  client->id = static_cast<history::ProcessId>(clients_.size() + 1);
  client->process = std::make_shared<Process>(now_, dice_.next());
  client->line = environment_->join(client->id, client->process);
  client->core =
      std::make_shared<client::Core>(client->line, client->process, nobody_in_particular());
  client->line->on_change([weak = std::weak_ptr(client->core)] {
    if (const auto core = weak.lock()) core->confirm_leases(core->store().known_since());
  });
  for (unsigned i = 0; i < plan_.workers; ++i) {
    client->workers.push_back(std::make_unique<Worker>(*this, *client, i));
    client->workers.back()->start();
  }
  if (clients_.empty() && plan_.hoarded() > 0) {
    client->workers.push_back(std::make_unique<Worker>(*this, *client, plan_.workers));
    client->workers.back()->start_hoarding();
  }
  alive_.emplace_back(client->process.get(), client.get());
  clients_.push_back(std::move(client));
}

bool World::run() {
  for (unsigned i = 0; i < plan_.processes; ++i) start_process();
  if (plan_.faults.any_trouble()) trouble();
  const Time limit = plan_.longest_history_ttls * plan_.ttl;
  while (recorder_.grants < plan_.enough_grants && turn(limit)) {
  }
  calm_down();
  const Time end = now_ + 4 * plan_.ttl + environment_->set_back() + environment_->away_for();
  while (!everybody_is_done() && turn(end)) {
  }
  if (!everybody_is_done()) now_ = end;
  recorder_.add(What::ended, 0);
  return come_to_an_end();
}

// The next thing that happens anywhere.
bool World::turn(Time limit) {
  const auto next = next_turn(environment_->outside, alive_, limit);
  if (!next) return false;
  now_ = std::max(now_, next->at);
  if (!next->client) {
    (*environment_->outside.pop_due(outside_time(now_)))();
  } else if (plan_.faults.stop == 0 || calm_ || !dice_.one_in(plan_.faults.stop)) {
    next->client->process->turn();
  } else {
    environment_->stop(next->client->id, now_ + dice_.mostly_short(3 * plan_.ttl));
  }
  return true;
}

Client* World::somebody() {
  Client* client = clients_[dice_.below(clients_.size())].get();
  return client->is_gone() ? nullptr : client;
}

void World::trouble() {
  const Time pause = dice_.between(plan_.ttl / 10, plan_.ttl);
  environment_->outside.add(outside_time(now_ + pause), [this] {
    if (calm_) return;
    trouble_a_client();
    environment_->trouble_the_store();
    trouble();
  });
}

void World::trouble_a_client() {
  const Faults& faults = plan_.faults;
  Client* client = somebody();
  if (!client) return;
  environment_->trouble_a_process(client->id);
  if (dice_.one_in(faults.crash) && clients_.size() < most_processes) {
    recorder_.fault(What::stopped, client->id, history::for_ever);
    client->line->hang_up();
    std::erase_if(alive_, [client](const auto& each) { return each.second == client; });
    environment_->crash(client->id, dice_.mostly_short(2 * second));
    start_process();
  }
}

void World::calm_down() {
  calm_ = true;
  environment_->heal();
  leave_one_stopped(now_ + 100 * plan_.ttl);
  recorder_.add(What::calm, 0).until = now_ + environment_->set_back() + environment_->away_for();
  for (const auto& [process, client] : alive_) {
    for (const auto& worker : client->workers) worker->wake_up();
  }
}

void World::leave_one_stopped(Time until) {
  if (plan_.faults.stop == 0 || alive_.size() < 2 || !sleepers_.one_in(2)) return;
  asleep_ = alive_[sleepers_.below(alive_.size())].second;
  environment_->stop(asleep_->id, until);
}

bool World::everybody_is_done() const {
  return std::ranges::all_of(clients_, [this](const auto& client) {
    return client->is_gone() || client.get() == asleep_ ||
           std::ranges::all_of(client->workers,
                               [](const auto& worker) { return worker->is_done(); });
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
