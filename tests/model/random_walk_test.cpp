// SPDX-License-Identifier: Apache-2.0
//
// More than a million random steps, every one checked by the invariants and by the oracle. A
// failure prints the seed of its history: put it into `first_seed` and run that one case.
#include "model/codec.hpp"
#include "random_walk_oracle.hpp"
#include "support/model_world.hpp"

#include <algorithm>
#include <array>
#include <iostream>
#include <random>

namespace holdfast::test {
namespace {

using model::LockCommand;
using model::LockSpec;
using model::RequestId;

constexpr std::uint64_t first_seed = 20'261'115;
constexpr int histories = 50;
constexpr int steps_per_history = 2'200;

struct Walk {
  const char* name;
  LockSpec spec;

  friend void PrintTo(const Walk& walk, std::ostream* out) { *out << walk.name; }
};

// Makes commands as a handful of careless clients would: they repeat themselves, come late, mix up
// their places, and never answer anything in time.
class Clients {
 public:
  Clients(LockSpec spec, std::uint64_t seed) : spec_(spec), random_(seed) {}

  LockCommand next() {
    const auto dice = below(100);
    if (dice < 9 && !sent_.empty()) return sent_[below(sent_.size())];
    LockCommand command = {wanted_spec(), verb(dice)};
    if (sent_.size() < 64) {
      sent_.push_back(command);
    } else {
      sent_[below(sent_.size())] = command;
    }
    return command;
  }

  void heard(const LockCommand& command, const model::LockOutcome& outcome) {
    const auto* wanted = std::get_if<model::Acquire>(&command.verb);
    const auto* queued = std::get_if<model::Queued>(&outcome);
    if (wanted && queued) place_[*owner_of(command)] = queued->place;
    const auto* granted = std::get_if<model::Granted>(&outcome);
    if (granted) fences_[below(fences_.size())] = granted->fence;
  }

  std::size_t below(std::size_t end) { return random_() % end; }
  Micros time_that_passes() {
    const auto dice = below(1000);
    if (dice < 500) return 0us;
    if (dice < 850) return Micros(below(30'000));
    if (dice < 990) return Micros(below(700'000));
    return Micros(below(12'000'000));
  }

 private:
  using Verb = decltype(LockCommand::verb);

  static std::optional<std::size_t> owner_of(const LockCommand& command) {
    const auto* wanted = std::get_if<model::Acquire>(&command.verb);
    if (!wanted) return std::nullopt;
    return static_cast<std::size_t>(wanted->owner.str()[1] - '0');
  }

  Verb verb(std::size_t dice) {
    const auto owner = below(owners_.size());
    const RequestId request{below(20) == 0 ? 0 : some_request()};
    if (dice < 58) return acquire(owner);
    if (dice < 74) return model::Renew{owners_[owner], request, some_ttl()};
    if (dice < 94) return release(owner, request);
    if (dice < 95) return model::ForceRelease{.source = some_source()};
    if (dice < 97) return model::Inspect{};
    return model::Inspect{owners_[owner]};
  }

  model::Release release(std::size_t owner, RequestId request) {
    model::Release verb{.owner = owners_[owner], .request = request};
    if (request == RequestId::any && below(3) != 0) verb.up_to = fences_[below(fences_.size())];
    return verb;
  }

  // The ttl, claim and permits of an attempt follow from its request, as they would for a client
  // that repeats itself.
  model::Acquire acquire(std::size_t owner) {
    const auto request = some_request();
    model::Acquire wanted{.owner = owners_[owner],
                          .request = RequestId{request},
                          .permits = permits_of(owner, request),
                          .ttl = Micros(20'000 + (request * 7919 + owner * 104'729) % 2'000'000),
                          .wait = below(4) != 0,
                          .claim = Micros(1 + (request * 6007) % 500'000),
                          .process = model::ProcessId{owner % 3 + 1},
                          .metadata = metadata_of(owner)};
    if (below(3) != 0) wanted.place = place_[below(10) == 0 ? below(place_.size()) : owner];
    if (below(50) == 0) wanted.place = random_();
    if (spec_.kind == Kind::read_write && below(4) == 0) convert(wanted);
    return wanted;
  }

  std::string some_source() {
    constexpr std::string_view sources[] = {"", "", "even", "odd", "nobody"};
    return std::string(sources[below(std::size(sources))]);
  }

  model::MetadataPtr metadata_of(std::size_t owner) const {
    return std::make_shared<Metadata>(
        Metadata{.source = source_of(owners_[owner].view()), .note = {}, .value = {}});
  }

  // Conversions have requests of their own, except for a confused client now and then.
  void convert(model::Acquire& wanted) {
    const auto base = some_request();
    const bool upgrades = below(3) != 0;
    const bool confused = below(20) == 0;
    wanted.converts = RequestId{base};
    if (!confused) wanted.request = RequestId{base + (upgrades ? 100U : 200U)};
    wanted.permits = upgrades ? all_permits : 1;
  }

  std::uint32_t permits_of(std::size_t owner, std::uint64_t request) const {
    if (spec_.kind == Kind::semaphore) {
      return static_cast<std::uint32_t>(1 + (owner + request) % spec_.capacity);
    }
    if (spec_.kind == Kind::read_write) return (owner + request) % 3 == 0 ? all_permits : 1;
    return usual_permits(spec_.kind);
  }

  // An automatic order agrees with any, but would make a free name fifo.
  LockSpec wanted_spec() {
    LockSpec wanted = spec_;
    if (spec_.order == Order::fifo && below(2) == 0) wanted.order = Order::automatic;
    return wanted;
  }

  std::uint64_t some_request() { return 1 + below(3); }
  Micros some_ttl() { return Micros(20'000 + below(2'000'000)); }

  LockSpec spec_;
  std::mt19937_64 random_;
  std::vector<OwnerId> owners_{owner_named("o0"), owner_named("o1"), owner_named("o2"),
                               owner_named("o3"), owner_named("o4"), owner_named("o5")};
  std::array<std::uint64_t, 6> place_{};
  std::array<Fence, 4> fences_{};
  std::vector<LockCommand> sent_;
};

std::optional<OwnerId> owner_in(const LockCommand& command) {
  return std::visit(
      []<typename Verb>(const Verb& verb) -> std::optional<OwnerId> {
        if constexpr (std::is_same_v<Verb, model::ForceRelease>)
          return std::nullopt;
        else
          return verb.owner;
      },
      command.verb);
}

std::string bytes_of(const model::LockState& state) {
  std::string bytes;
  model::encode(state, bytes);
  return bytes;
}

// The command itself may have handed the lock to somebody else.
bool is_not_mine(const model::LockOutcome& outcome) {
  return std::holds_alternative<model::NotHeld>(outcome) ||
         std::holds_alternative<model::NotOwner>(outcome);
}

bool is_up_to_a_fence(const LockCommand& command) {
  const auto* release = std::get_if<model::Release>(&command.verb);
  return release && release->request == RequestId::any && release->up_to != UINT64_MAX;
}

// A command that is repeated right after itself changes nothing and is told the same, except that
// what was just released is no longer there.
std::optional<std::string> repeated_differently(const LockCommand& command,
                                                const model::LockOutcome& first,
                                                const model::LockOutcome& second) {
  if (std::holds_alternative<model::Release>(command.verb)) {
    if (std::holds_alternative<model::Released>(second)) return "a repeated release found more";
    return std::nullopt;
  }
  const bool not_mine = is_not_mine(first) && is_not_mine(second);
  if (first.index() != second.index() && !not_mine) {
    return "a repeated command was told " + std::string(kind_of(second)) + " after " +
           std::string(kind_of(first));
  }
  const auto* grant = std::get_if<model::Granted>(&first);
  if (grant && grant->fence != std::get<model::Granted>(second).fence) return "another fence";
  const auto* queued = std::get_if<model::Queued>(&first);
  if (queued && queued->place != std::get<model::Queued>(second).place) return "another place";
  return std::nullopt;
}

class History {
 public:
  History(LockSpec spec, std::uint64_t seed) : clients_(spec, seed), lock_(spec), oracle_(spec) {}

  // One step forward; what went wrong, if anything.
  std::optional<std::string> step() {
    lock_.pass(clients_.time_that_passes());
    if (clients_.below(20) == 0) lock_.cut_off = {clients_.below(4), clients_.below(6)};
    const LockCommand command = clients_.next();
    const auto outcome = lock_.apply(command);
    clients_.heard(command, outcome);
    if (auto wrong = judge(command, outcome)) return wrong;
    if (clients_.below(50) == 0) lock_.state = model::decode(bytes_of(lock_.state)).value();
    if (clients_.below(4) == 0) return repeat(command, outcome);
    return std::nullopt;
  }

 private:
  std::optional<std::string> judge(const LockCommand& command, const model::LockOutcome& outcome) {
    return oracle_.judge({command, outcome, lock_.messages, lock_.now, lock_.state});
  }

  bool served_the_owner_of(const LockCommand& command) const {
    return std::ranges::any_of(lock_.messages, [&](const model::Message& message) {
      return message.grant && owner_in(command) == message.owner;
    });
  }

  std::optional<std::string> repeat(const LockCommand& command, const model::LockOutcome& first) {
    // To repeat a force-release is to force the next one out.
    if (std::holds_alternative<model::ForceRelease>(command.verb)) return std::nullopt;
    // What its owner waited for may have been handed over after the answer, and a request that was
    // in use may be free by then. A release up to a fence leaves even that alone.
    if (served_the_owner_of(command) && !is_up_to_a_fence(command)) return std::nullopt;
    if (std::holds_alternative<model::Refused>(first)) return std::nullopt;
    const auto before = bytes_of(lock_.state);
    const auto second = lock_.apply(command);
    if (auto wrong = judge(command, second)) return wrong;
    if (auto wrong = repeated_differently(command, first, second)) return wrong;
    if (bytes_of(lock_.state) != before) return "a repeated command changed the state";
    return std::nullopt;
  }

  Clients clients_;
  ModelLock lock_;
  Oracle oracle_;
};

class RandomWalk : public testing::TestWithParam<Walk> {};

TEST_P(RandomWalk, keeps_every_promise_at_every_step) {
  std::cout << "seeds " << first_seed << " to " << first_seed + histories - 1 << '\n';
  for (std::uint64_t seed = first_seed; seed < first_seed + histories; ++seed) {
    History history(GetParam().spec, seed);
    for (int step = 0; step < steps_per_history; ++step) {
      const auto wrong = history.step();
      ASSERT_FALSE(wrong.has_value() || HasFailure())
          << wrong.value_or("an invariant") << " (seed " << seed << ", step " << step << ")";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, RandomWalk,
    testing::Values(Walk{"mutex_fifo", LockSpec::mutex(Order::fifo)},
                    Walk{"mutex_barging", LockSpec::mutex(Order::barging)},
                    Walk{"reentrant_fifo", LockSpec::reentrant(Order::fifo)},
                    Walk{"reentrant_barging", LockSpec::reentrant(Order::barging)},
                    Walk{"read_write_fifo", LockSpec::read_write(Order::fifo)},
                    Walk{"read_write_barging", LockSpec::read_write(Order::barging)},
                    Walk{"semaphore_fifo", LockSpec::semaphore(3, Order::fifo)},
                    Walk{"semaphore_barging", LockSpec::semaphore(5, Order::barging)},
                    Walk{"semaphore_of_one", LockSpec::semaphore(1, Order::fifo)},
                    Walk{"election", LockSpec::election()}),
    [](const auto& param) { return param.param.name; });

}  // namespace
}  // namespace holdfast::test
