// SPDX-License-Identifier: Apache-2.0
//
// What a process tells of itself through its locks.
#include "client_contract.hpp"

#include <unistd.h>

namespace holdfast::test {

TEST_P(ClientContract, every_client_of_a_process_says_when_it_started_and_says_the_same) {
  auto other = open_again();
  const auto orders = ok(client.mutex("orders:42").acquire({.ttl = 10s}));
  const auto invoices = ok(other.mutex("invoices").acquire({.ttl = 10s}));
  const auto first = ok(client.inspect("orders:42"))->holders.at(0).metadata->process;
  const auto second = ok(client.inspect("invoices"))->holders.at(0).metadata->process;
  EXPECT_EQ(*first, *second);
  EXPECT_EQ(first->pid, getpid());
  const auto started = std::chrono::sys_time<std::chrono::milliseconds>(
      std::chrono::milliseconds(first->started_ms));
  const auto now = std::chrono::system_clock::now();
  EXPECT_LE(started, now + 1s);
  EXPECT_GE(started, now - 1h);
}

TEST_P(ClientContract, two_leases_of_one_client_are_two_parties) {
  const auto orders = ok(client.mutex("orders:42").acquire({.ttl = 10s}));
  const auto invoices = ok(client.mutex("invoices").acquire({.ttl = 10s}));
  const auto first = ok(client.inspect("orders:42"))->holders.at(0).party;
  const auto second = ok(client.inspect("invoices"))->holders.at(0).party;
  EXPECT_NE(first, 0U);
  EXPECT_NE(first, second);
}

}  // namespace holdfast::test
