// SPDX-License-Identifier: Apache-2.0
#include "simulation/once/world.hpp"

#include "runtime/spawn.hpp"
#include "simulation/step_world.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace holdfast::simulation::once {

namespace {

constexpr std::size_t most_processes = 8;
constexpr Time bad_days = 6 * second;
// Far more than anything takes: whoever is not done by then never will be.
constexpr Time patience = 600 * second;

std::size_t key_of(const LockName& name) { return std::stoul(name.str().substr(4)); }

// The store as a process sees it: at the other end of the network.
class FarStore final : public store::Store {
 public:
  explicit FarStore(Client& client) : client_(client) {}

  Task<Result<store::Reply>> apply(store::Request request) override {
    auto& world = client_.world;
    const auto command = std::get<model::RunCommand>(std::move(request.command));
    return world.ask<store::Reply>(
        client_, [&world, name = request.name, command] { return world.step(name, command); },
        request.deadline, once::World::Copies::bears);
  }
  Result<std::unique_ptr<store::Listening>> listen(const LockName&, const OwnerId&,
                                                   model::RequestId) override {
    return fail(Errc::unsupported, "nobody waits here");
  }
  Task<Result<LockPage>> list(store::ListRequest) override {
    return Task<Result<LockPage>>(LockPage{});
  }
  Result<void> supports(const model::LockSpec&) const override { return {}; }
  store::Capabilities capabilities() const override { return {}; }
  std::string describe() const override { return "far away"; }

 private:
  Client& client_;
};

Plan plan_for(Dice& dice) {
  Plan plan{.guard = dice.between(100, 1000) * millisecond,
            .latency = dice.between(1, 3000) * microsecond,
            .processes = static_cast<unsigned>(dice.between(1, 4)),
            .workers = static_cast<unsigned>(dice.between(1, 3)),
            .keys = static_cast<unsigned>(dice.between(2, 12)),
            .takes_over = !dice.one_in(4)};
  const auto roll = [&](std::int64_t from, std::int64_t to) {
    return dice.one_in(3) ? 0U : static_cast<std::uint32_t>(dice.between(from, to));
  };
  plan.lose = roll(3, 50);
  plan.delay = roll(3, 50);
  plan.duplicate = roll(2, 20);
  plan.stop = roll(20, 500);
  plan.crash = roll(20, 200);
  return plan;
}

}  // namespace

bool Ledger::admits(Entry& entry, Fence fence) const {
  if (checks_fences_ && fence < entry.newest) return false;
  entry.newest = std::max(entry.newest, fence);
  return true;
}

Ledger::Page Ledger::look(std::size_t key, Fence fence) {
  Entry& entry = entries_[key];
  if (!admits(entry, fence)) return {.refused = true, .written = {}};
  return {.refused = false, .written = entry.written};
}

Ledger::Page Ledger::write(std::size_t key, Fence fence) {
  Entry& entry = entries_[key];
  if (!admits(entry, fence)) return {.refused = true, .written = {}};
  ++entry.times;
  entry.written = fmt::format("{} of key {}", entry.times, key);
  return {.refused = false, .written = entry.written};
}

Verdict& Verdict::operator+=(const Verdict& other) {
  violations.insert(violations.end(), other.violations.begin(), other.violations.end());
  runs += other.runs;
  take_overs += other.take_overs;
  replays += other.replays;
  unknown += other.unknown;
  faults += other.faults;
  return *this;
}

World::World(std::uint64_t seed, Weakness weakness)
    : dice_(seed),
      weakness_(weakness),
      plan_(plan_for(dice_)),
      rate_ppm_(dice_.between(-5000, 5000)),
      runs_(plan_.keys),
      ledger_(plan_.keys, !weakness.no_fences) {}

bool World::fate(std::uint32_t one_in) {
  if (calm_ || !dice_.one_in(one_in)) return false;
  ++verdict_.faults;
  return true;
}

Time World::travel() {
  const Time usual = plan_.latency / 2 + dice_.between(0, plan_.latency);
  return fate(plan_.delay) ? usual + dice_.mostly_short(4 * plan_.guard) : usual;
}

store::Reply World::step(const LockName& name, model::RunCommand command) {
  const auto micros = now_ / 1000 + now_ / 1'000'000'000 * rate_ppm_;
  const auto hears = [](model::ProcessId) { return true; };
  StepWorld world(model::StoreTime(Micros(micros)), 0, fences_, hears);
  model::RunState& state = runs_[key_of(name)];
  const bool has_owner = command.verb != model::RunCommand::Verb::begin && !state.owner.empty();
  if (weakness_.no_owners && has_owner) {
    command.owner = state.owner;
    const bool is_over = state.status == model::RunState::Status::completed;
    if (is_over) state.status = model::RunState::Status::running;
  }
  return {world.now(), model::step(state, command, world)};
}

void World::start_process() {
  clients_.push_back(std::make_unique<Client>(*this));
  Client& client = *clients_.back();
  client.process = std::make_shared<Process>(now_, dice_.next());
  runnable_.emplace_back(client.process.get(), &client);
  client.core = client::make_core(std::make_shared<FarStore>(client), client.process);
  client.process->post([this, &client] {
    for (unsigned worker = 0; worker < plan_.workers; ++worker) {
      ++client.busy_workers;
      runtime::spawn(work_until_calm(*this, client), [&client](bool) { --client.busy_workers; });
    }
  });
  client.process->arrive(now_, [] {});
}

// It goes on without anybody to talk to, so that its coroutines come to their end.
void World::crash(Client& client) {
  client.is_gone = true;
  if (clients_.size() < most_processes) start_process();
}

// The next thing that happens anywhere. False if there is nothing.
bool World::turn() {
  const auto next = next_turn(far_away_, runnable_, history::for_ever);
  if (!next) return false;
  now_ = std::max(now_, next->at);
  if (!next->client) {
    (*far_away_.pop_due(outside_time(now_)))();
  } else if (fate(plan_.stop)) {
    next->client->process->stop_until(now_ + dice_.mostly_short(3 * plan_.guard));
  } else {
    next->client->process->turn();
  }
  return true;
}

void World::settle_everything() {
  const Time end = now_ + patience;
  while (now_ < end && turn()) {
  }
  if (now_ >= end) say("somebody goes on for ever");
}

Verdict World::run() {
  for (unsigned process = 0; process < plan_.processes; ++process) start_process();
  while (now_ < bad_days && turn()) {
  }
  calm_ = true;
  settle_everything();
  start_process();
  Client& last = *clients_.back();
  for (std::size_t key = 0; key < plan_.keys; ++key) {
    last.process->post([this, &last, key] { runtime::spawn(insist(*this, last, key)); });
  }
  settle_everything();
  for (std::size_t key = 0; key < plan_.keys; ++key) {
    if (ledger_.times(key) != 1) {
      say(fmt::format("key {} happened {} times", key, ledger_.times(key)));
    }
  }
  return verdict_;
}

Verdict run_seed(std::uint64_t seed, Weakness weakness) { return World(seed, weakness).run(); }

Verdict run_seeds(std::uint64_t first, std::uint64_t count, Weakness weakness) {
  Verdict all;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    auto verdict = run_seed(seed, weakness);
    for (auto& violation : verdict.violations) {
      violation = fmt::format("seed {}: {}", seed, violation);
    }
    all += verdict;
  }
  return all;
}

}  // namespace holdfast::simulation::once
