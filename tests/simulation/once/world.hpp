// SPDX-License-Identifier: Apache-2.0
//
// Something that should happen once, in a bad world: processes that stop and die, messages that are
// late, lost or doubled, and a ledger that shows how often it really happened. The recipe and the
// step are the production ones.
#pragma once

#include "client/core.hpp"
#include "model/idempotency.hpp"
#include "runtime/event.hpp"
#include "simulation/turns.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::simulation::once {

// What is left out of the protection, to see what it is good for.
struct Weakness {
  bool no_owners = false;  // the store takes the last word of anybody, as NestJS RedisX does
  bool no_fences = false;  // the ledger does not care how old a writer is
  bool no_looks = false;   // whoever takes over does not look what the one before has done
};

// What a seed stands for.
struct Plan {
  Time guard = 0;
  Time latency = 0;
  unsigned processes = 0;
  unsigned workers = 0;  // in each of them
  unsigned keys = 0;
  bool takes_over = true;
  std::uint32_t lose = 0;  // each is "one in so many"; 0 is never
  std::uint32_t delay = 0;
  std::uint32_t duplicate = 0;
  std::uint32_t stop = 0;
  std::uint32_t crash = 0;
};

struct Verdict {
  std::vector<std::string> violations;
  std::uint64_t runs = 0;
  std::uint64_t take_overs = 0;
  std::uint64_t replays = 0;
  std::uint64_t unknown = 0;
  std::uint64_t faults = 0;

  Verdict& operator+=(const Verdict& other);
};

// Where it happens. It remembers the newest fence of each key, and who comes late is refused.
class Ledger {
 public:
  Ledger(std::size_t keys, bool checks_fences) : entries_(keys), checks_fences_(checks_fences) {}

  struct Page {
    bool refused = false;
    std::string written;  // empty: nothing yet
  };
  Page look(std::size_t key, Fence fence);
  Page write(std::size_t key, Fence fence);
  unsigned times(std::size_t key) const { return entries_[key].times; }
  const std::string& written(std::size_t key) const { return entries_[key].written; }

 private:
  struct Entry {
    Fence newest = 0;
    unsigned times = 0;
    std::string written;
  };
  bool admits(Entry& entry, Fence fence) const;

  std::vector<Entry> entries_;
  bool checks_fences_;
};

class World;

struct Client {
  World& world;
  std::shared_ptr<Process> process;
  std::shared_ptr<client::Core> core;
  bool is_gone = false;
  unsigned busy_workers = 0;
};

class World {
 public:
  World(std::uint64_t seed, Weakness weakness);

  // Bad days, then a calm one on which every key is asked for until its answer is known.
  Verdict run();

  Dice& dice() { return dice_; }
  const Plan& plan() const { return plan_; }
  const Weakness& weakness() const { return weakness_; }
  Ledger& ledger() { return ledger_; }
  bool is_calm() const { return calm_; }
  Verdict& verdict() { return verdict_; }
  void say(std::string violation) { verdict_.violations.push_back(std::move(violation)); }
  bool fate(std::uint32_t one_in);
  void crash(Client& client);

  // What `there` answers at the other end of the network, or outcome_unknown at the deadline.
  // `there` may be called late, never, or more than once if it is said to bear that.
  enum class Copies : std::uint8_t { bears, never };
  template <typename T>
  Task<Result<T>> ask(Client& client, std::function<T()> there, runtime::LocalTime deadline,
                      Copies copies);

  store::Reply step(const LockName& name, model::RunCommand command);

 private:
  void start_process();
  bool turn();
  void settle_everything();
  Time travel();

  Dice dice_;
  const Weakness weakness_;
  Plan plan_;
  const std::int64_t rate_ppm_;
  Time now_ = 0;
  bool calm_ = false;
  runtime::TimerHeap far_away_;
  model::FenceCounter fences_;
  std::vector<model::RunState> runs_;
  Ledger ledger_;
  std::vector<std::unique_ptr<Client>> clients_;
  std::vector<Runnable<Client>> runnable_;
  Verdict verdict_;
};

Verdict run_seed(std::uint64_t seed, Weakness weakness = {});
Verdict run_seeds(std::uint64_t first, std::uint64_t count, Weakness weakness = {});

inline constexpr Micros ledger_timeout = std::chrono::milliseconds(200);

// A user's thread in the process: asks for keys, works, and says what came of it.
Task<bool> work_until_calm(World& world, Client& client);
// Asks for the key until it is known to have happened.
Task<bool> insist(World& world, Client& client, std::size_t key);

template <typename T>
Task<Result<T>> World::ask(Client& client, std::function<T()> there, runtime::LocalTime deadline,
                           Copies copies) {
  struct Call {
    explicit Call(std::shared_ptr<runtime::Runtime> runtime) : event(std::move(runtime)) {}
    runtime::Event event;
    std::optional<T> answer;
  };
  if (client.is_gone) co_return fail(Errc::unavailable, "this process is dead");
  const auto call = std::make_shared<Call>(client.process);
  const auto answer = [this, call, &client](T value) {
    if (fate(plan_.lose)) return;
    client.process->arrive(now_ + travel(), [call, value = std::move(value)] {
      if (!call->answer) call->answer = value;
      call->event.notify();
    });
  };
  const unsigned copies_sent = fate(plan_.lose)                                   ? 0
                               : copies == Copies::bears && fate(plan_.duplicate) ? 2
                                                                                  : 1;
  for (unsigned copy = 0; copy < copies_sent; ++copy) {
    far_away_.add(outside_time(now_ + travel()), [there, answer] { answer(there()); });
  }
  co_await call->event.wait_until(deadline);
  if (call->answer) co_return *call->answer;
  co_return fail(Errc::outcome_unknown, "no answer");
}

}  // namespace holdfast::simulation::once
