// SPDX-License-Identifier: Apache-2.0
//
// Two clients on two sides of a broken network.
#include "faults_redlock/redlock_fixture.hpp"
#include "support/fault_proxy.hpp"

namespace holdfast::faults {
namespace {

// A client with lines of its own to all servers.
class Side {
 public:
  Side(const std::vector<std::uint16_t>& servers, const std::string& options) {
    std::vector<std::uint16_t> ports;
    for (const auto port : servers) {
      lines_.push_back(std::make_unique<test::FaultProxy>(port));
      ports.push_back(lines_.back()->port());
    }
    client_.emplace(must_open(redlock_url(ports, options)));
  }
  Mutex lock() const { return client_->mutex("orders"); }
  void cannot_reach(std::initializer_list<std::size_t> servers) {
    for (const auto at : servers) {
      lines_[at]->refuse(true);
      lines_[at]->cut();
    }
  }
  // As if every packet was lost.
  void hears_nothing_of(std::initializer_list<std::size_t> servers) {
    for (const auto at : servers) lines_[at]->pause();
  }
  void heal() {
    for (const auto& line : lines_) line->all_well();
  }

 private:
  std::vector<std::unique_ptr<test::FaultProxy>> lines_;
  std::optional<Client> client_;
};

class Partition : public RedlockTest {
 protected:
  Side few{ports(), "retries=0"};
  Side many{ports(), "retries=0"};
};

TEST_F(Partition, gives_the_lock_to_the_side_of_the_majority_only) {
  auto before = few.lock().acquire({.wait = 20s});
  ASSERT_TRUE(is_ok(before));
  ASSERT_TRUE(is_released(before->release()));
  // A member that the release does not reach keeps the lease for its ttl, and many needs all three.
  ASSERT_EQ(left_behind(), "");
  few.cannot_reach({2, 3, 4});
  many.cannot_reach({0, 1});
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(code_of(few.lock().try_acquire()), "quorum_not_reached");
    auto lease = many.lock().acquire({.wait = 20s});
    ASSERT_TRUE(is_ok(lease));
    EXPECT_GT(lease->fence(), before->fence());
    EXPECT_EQ(code_of(few.lock().try_acquire()), "quorum_not_reached");
    before = std::move(lease);
    EXPECT_TRUE(is_released(before->release()));
  }
  few.heal();
  many.heal();
  auto after = few.lock().acquire({.wait = 20s});
  ASSERT_TRUE(is_ok(after));
  EXPECT_GT(after->fence(), before->fence());
  EXPECT_TRUE(is_released(after->release()));
  EXPECT_EQ(left_behind(), "");
}

TEST_F(Partition, ends_the_lease_of_the_minority_before_the_majority_gets_it) {
  auto lease = few.lock().acquire({.ttl = 1s, .wait = 20s});
  ASSERT_TRUE(is_ok(lease));
  few.hears_nothing_of({2, 3, 4});
  many.hears_nothing_of({0, 1});
  auto next = many.lock().acquire({.ttl = 30s, .wait = 20s});
  EXPECT_FALSE(lease->valid());
  ASSERT_TRUE(is_ok(next));
  EXPECT_GT(next->fence(), lease->fence());
  EXPECT_EQ(code_of(few.lock().acquire({.ttl = 1s, .wait = 500ms})), "quorum_not_reached");
  EXPECT_TRUE(next->valid());
  few.heal();
  many.heal();
  EXPECT_EQ(code_of(decided([&] { return few.lock().acquire({.wait = 300ms}); })), "timed_out");
  EXPECT_TRUE(is_released(next->release()));
  auto last = few.lock().acquire({.wait = 20s});
  ASSERT_TRUE(is_ok(last));
  EXPECT_GT(last->fence(), next->fence());
  EXPECT_TRUE(is_released(last->release()));
  EXPECT_EQ(left_behind(), "");
}

}  // namespace
}  // namespace holdfast::faults
