// SPDX-License-Identifier: Apache-2.0
//
// An owner is a secret: whoever knows it can end the lease.
#include "client/hand_client.hpp"
#include "client/real_client.hpp"
#include "runtime/log.hpp"

#include <set>
#include <string>
#include <vector>

namespace holdfast::test {
namespace {

std::vector<std::string>& warnings() {
  static std::vector<std::string> said;
  return said;
}

class Secrecy : public ClientTest {
 public:
  void SetUp() override {
    warnings().clear();
    runtime::send_warnings_to([](std::string_view message) { warnings().emplace_back(message); });
  }
  void TearDown() override {
    runtime::send_warnings_to(nullptr);
    ClientTest::TearDown();
  }
  template <typename T>
  void note(const Result<T>& result) {
    ASSERT_FALSE(result.has_value());
    said.push_back(result.error().message);
  }

  std::vector<std::string> said;
};

TEST_F(Secrecy, no_error_and_no_warning_says_an_owner) {
  auto lease = mine.take("orders", {.ttl = 3s});
  const auto owner = lease.owner().str();
  lease.on_lost([&](const Error& error) { said.push_back(error.message); });
  note(other.api.mutex("orders").try_acquire());
  note(other.api.adopt("orders", "somebody-else"));
  auto waiting = other.acquire("orders", {.wait = 1s});
  advance(1s);
  note(waiting.result());
  value_of(other.api.force_release("orders", "a test"));
  advance(3s);
  note(lease.extend(10s));
  auto again = mine.take("again", {.owner = owner});
  value_of(again.release());
  note(again.release());
  auto stuck = mine.take("stuck", {.ttl = 3s, .owner = owner});
  mine.line->script(Verb::release, Fault::refuse(), 100);
  {
    const auto gone = std::move(stuck);
  }
  advance(10s);
  said.insert(said.end(), warnings().begin(), warnings().end());
  ASSERT_GE(said.size(), 8U);
  for (const auto& each : said) {
    EXPECT_EQ(each.find(owner), std::string::npos) << each;
    EXPECT_EQ(each.find("somebody-else"), std::string::npos) << each;
  }
}

TEST(SecrecyOfOwners, each_has_128_bits_that_are_never_the_same) {
  const auto client = real_client();
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    const auto lease = value_of(client.mutex("orders").acquire());
    EXPECT_EQ(lease.owner().view().size(), 32U);
    EXPECT_EQ(lease.owner().view().find_first_not_of("0123456789abcdef"), std::string_view::npos);
    EXPECT_TRUE(seen.insert(lease.owner().str().substr(0, 16)).second) << "half of them is enough";
  }
}

}  // namespace
}  // namespace holdfast::test
