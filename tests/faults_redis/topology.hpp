// SPDX-License-Identifier: Apache-2.0
//
// A primary, a replica of it, and the address of whichever of them is the primary: a relay, so that
// connections stay where they were made when the address leads elsewhere.
#pragma once

#include "faults_redis/load.hpp"
#include "support/fault_proxy.hpp"
#include "support/redis_server.hpp"

namespace holdfast::faults {

// Replication without delays that only matter to large servers.
std::vector<std::string> for_replication();

class Topology {
 public:
  // The replica begins with all that the primary has. Both outlive this.
  Topology(test::RedisServer& primary, test::RedisServer& replica);

  test::RedisServer& primary() { return *primary_; }
  test::RedisServer& replica() { return *replica_; }
  test::FaultProxy& relay() { return relay_; }
  std::string url() const { return relay_.url(); }

  // Each of these changes the roles, moves the address, and returns when the new replica follows.
  // The first two lose nothing and close no connection.
  void failover(SharedLog& log);   // Redis' own FAILOVER
  void hand_over(SharedLog& log);  // REPLICAOF by hand, while writes are paused
  // The primary is killed, the replica is promoted with what it has, and the old primary comes back
  // as its replica.
  void crash_over(SharedLog& log, Dice& dice);

  // Stops the replication of what is written from now on, for crash_over to lose, by stopping the
  // replica; crash_over lets it go on.
  void hold_replication() { replica_->stop(); }

  // As after a hand-over by hand, but the old primary finds its new one nowhere: it keeps its
  // connections, answers PING, refuses writes, and passes no message on. Nothing is lost.
  void strand_old_primary(SharedLog& log);

 private:
  void follow();  // the replica replicates the primary
  void wait_for_replica();
  // Everything the primary has is on the replica, and nobody writes any more.
  void pause_writes();
  void swap(SharedLog& log, Time begin);

  test::RedisServer* primary_;
  test::RedisServer* replica_;
  test::FaultProxy relay_;
};

// How many subscribers of ours the server has.
std::size_t subscriptions_of_ours(const test::RedisServer& server);

}  // namespace holdfast::faults
