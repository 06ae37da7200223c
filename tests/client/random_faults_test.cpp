// SPDX-License-Identifier: Apache-2.0
//
// Many clients, one lock, and every fault at once. Whatever happens, no two of them believe in
// their lease at the same time, fences grow, and in the end nothing is left.
#include "backends/memory/memory_store.hpp"
#include "client/hand_client.hpp"

#include <iostream>
#include <random>

namespace holdfast::test {
namespace {

constexpr std::uint64_t first_seed = 1;
constexpr std::uint64_t runs = 150;
constexpr int clients = 5;

class Crowd {
 public:
  explicit Crowd(std::uint64_t seed)
      : dice_(seed),
        runtime_(std::make_shared<HandRuntime>(seed)),
        clock_(std::make_shared<OtherClock>(runtime_, 500h, pick(-9'000, 9'000))),
        store_(FaultStore::over(runtime_,
                                [this] { return backends::memory::make_memory_store(clock_); })) {
    for (int i = 0; i < clients; ++i) {
      members_.push_back(std::make_unique<Member>(store_->another_line(), runtime_));
      members_.back()->client.line->decide_by([this](Verb) { return random_fault(); });
    }
  }

  void run(int rounds) {
    for (int i = 0; i < rounds && !testing::Test::HasFailure(); ++i) {
      act(*members_[static_cast<std::size_t>(pick(0, clients - 1))]);
      runtime_->advance(std::chrono::microseconds(pick(0, pick(0, 300'000))));
      check();
    }
  }

  void end() {
    troubled_ = false;
    for (auto& member : members_) {
      member->client.line->resume();
      member->stop.request_stop();
      runtime_->run();
      runtime_->advance(1s);
      member->wait.reset();
    }
    EXPECT_TRUE(runtime_->settle(1h));
    // Orphans of commands that arrived after their cleaning up last for their ttl at most.
    runtime_->advance(2s);
    EXPECT_TRUE(members_[0]->client.api.mutex("orders").try_acquire({.ttl = 1s}).has_value());
  }

  std::uint64_t grants() const { return grants_; }

 private:
  struct Member {
    Member(std::shared_ptr<FaultStore> line, std::shared_ptr<HandRuntime> runtime)
        : client(std::move(line), std::move(runtime)) {}
    Lease* lease() { return wait && wait->done() && wait->result() ? &*wait->result() : nullptr; }
    HandClient client;
    std::optional<Running<Result<Lease>>> wait;
    std::stop_source stop;
    Fence seen = 0;
  };

  std::int64_t pick(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(dice_);
  }

  Fault random_fault() {
    if (!troubled_) return Fault::none();
    switch (pick(0, 11)) {
      case 0: return Fault::refuse();
      case 1: return Fault::lose_request();
      case 2: return Fault::lose_reply();
      case 3: return Fault::delay_request(std::chrono::microseconds(pick(0, 700'000)));
      case 4: return Fault::delay_reply(std::chrono::microseconds(pick(0, 700'000)));
      default: return Fault::none();
    }
  }

  void act(Member& member) {
    switch (pick(0, 9)) {
      case 0: member.client.line->pause(); break;
      case 1:
      case 2: member.client.line->resume(); break;
      case 3: member.stop.request_stop(); break;
      case 4: member.client.line->delay_notices(std::chrono::microseconds(pick(0, 400'000))); break;
      case 5: member.client.line->lose_notices(static_cast<unsigned>(pick(0, 2))); break;
      case 6: repeat_something(member); break;
      default: acquire_or_let_go(member);
    }
  }

  // A copy of any command of this lock's history, as a network may deliver it much later.
  void repeat_something(Member& member) {
    const auto sent = member.client.line->history();
    if (sent.empty()) return;
    const auto& old = sent[static_cast<std::size_t>(pick(0, std::ssize(sent) - 1))];
    if (old.at + 10s > runtime_->now()) member.client.line->send_again(old);
  }

  void acquire_or_let_go(Member& member) {
    if (!member.wait) {
      member.stop = {};
      member.wait =
          member.client.acquire("orders",
                                {.ttl = std::chrono::microseconds(pick(20'000, 1'000'000)),
                                 .wait = std::chrono::microseconds(pick(0, 3'000'000)),
                                 .renew = pick(0, 3) > 0,
                                 .retry = pick(0, 4) == 0},
                                member.stop.get_token());
    } else if (member.wait->done()) {
      member.wait.reset();
    }
  }

  void check() {
    int believers = 0;
    for (auto& member : members_) {
      Lease* lease = member->lease();
      if (!lease) continue;
      if (lease->fence() != member->seen) {
        ++grants_;
        member->seen = lease->fence();
      }
      if (!lease->valid()) continue;
      ++believers;
      EXPECT_GE(lease->fence(), newest_) << "an older grant is believed after a newer one";
      newest_ = std::max(newest_, lease->fence());
    }
    EXPECT_LE(believers, 1);
  }

  std::mt19937_64 dice_;
  std::shared_ptr<HandRuntime> runtime_;
  std::shared_ptr<OtherClock> clock_;
  std::shared_ptr<FaultStore> store_;
  std::vector<std::unique_ptr<Member>> members_;
  bool troubled_ = true;
  Fence newest_ = 0;
  std::uint64_t grants_ = 0;
};

TEST(RandomFaults, two_clients_never_believe_in_the_same_lock_at_once) {
  std::uint64_t grants = 0;
  for (std::uint64_t seed = first_seed; seed < first_seed + runs; ++seed) {
    Crowd crowd(seed);
    crowd.run(200);
    crowd.end();
    grants += crowd.grants();
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
  std::cout << "seeds " << first_seed << " to " << first_seed + runs - 1 << ", " << grants
            << " grants\n";
  EXPECT_GT(grants, runs * 10);
}

}  // namespace
}  // namespace holdfast::test
