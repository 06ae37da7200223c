// SPDX-License-Identifier: Apache-2.0
#include "faults_redis/topology.hpp"

#include "support/timing.hpp"

#include <stdexcept>
#include <string>
#include <utility>

namespace holdfast::faults {

namespace {

using namespace std::chrono_literals;
using test::RawRedis;
using test::RedisServer;

std::string field(RawRedis& raw, const std::string& name) {
  const std::string info = "\n" + raw.text({"INFO", "replication"});
  const auto at = info.find("\n" + name + ":");
  if (at == std::string::npos) return {};
  const auto begin = at + name.size() + 2;
  return info.substr(begin, info.find_first_of("\r\n", begin) - begin);
}

void must(bool is_so, const char* what) {
  if (!is_so) throw std::runtime_error(what);
}

void must_say_ok(RawRedis& raw, const std::vector<std::string>& command) {
  const std::string answer = raw.text(command);
  if (answer != "OK") throw std::runtime_error(command.front() + ": " + answer);
}

void replicate(const RedisServer& server, const RedisServer& from) {
  RawRedis raw(server);
  must_say_ok(raw, {"REPLICAOF", "127.0.0.1", std::to_string(from.port())});
}

}  // namespace

std::vector<std::string> for_replication() {
  return {"--repl-diskless-sync-delay", "0", "--repl-diskless-sync", "yes"};
}

Topology::Topology(RedisServer& primary, RedisServer& replica)
    : primary_(&primary), replica_(&replica), relay_(primary.port()) {
  follow();
}

void Topology::follow() {
  replicate(*replica_, *primary_);
  wait_for_replica();
}

void Topology::wait_for_replica() {
  RawRedis copy(*replica_);
  must(test::eventually([&] { return field(copy, "master_link_status") == "up"; }),
       "the replica does not follow");
  RawRedis raw(*primary_);
  must(test::eventually(
           [&] { return field(raw, "slave0").find("state=online") != std::string::npos; }),
       "the primary does not know its replica");
}

void Topology::pause_writes() {
  RawRedis raw(*primary_);
  RawRedis copy(*replica_);
  must_say_ok(raw, {"CLIENT", "PAUSE", "20000", "WRITE"});
  must(test::eventually(
           [&] { return field(raw, "master_repl_offset") == field(copy, "slave_repl_offset"); }),
       "the replica lags");
}

void Topology::swap(SharedLog& log, Time begin) {
  std::swap(primary_, replica_);
  relay_.lead_to({primary_->port()});
  log.fault(What::unreachable, 0, begin, log.now());
}

void Topology::failover(SharedLog& log) {
  const Time begin = log.now();
  RawRedis raw(*primary_);
  RawRedis copy(*replica_);
  // It is refused while the replica is not quite there yet.
  const std::vector<std::string> command = {"FAILOVER", "TO", "127.0.0.1",
                                            std::to_string(replica_->port())};
  must(test::eventually([&] { return raw.text(command) == "OK"; }), "FAILOVER is refused");
  must(test::eventually(
           [&] { return field(copy, "role") == "master" && field(raw, "role") == "slave"; }),
       "FAILOVER does not end");
  swap(log, begin);
  wait_for_replica();
}

void Topology::hand_over(SharedLog& log) {
  const Time begin = log.now();
  pause_writes();
  RawRedis raw(*primary_);
  RawRedis copy(*replica_);
  must_say_ok(copy, {"REPLICAOF", "NO", "ONE"});
  replicate(*primary_, *replica_);
  must_say_ok(raw, {"CLIENT", "UNPAUSE"});
  swap(log, begin);
  wait_for_replica();
}

void Topology::crash_over(SharedLog& log, Dice& dice) {
  const Time begin = log.now();
  primary_->kill();
  log.add({.what = What::data_lost});
  // Fences may be 10 ms ahead of the clock: nobody promotes a replica that soon.
  dice.rest(30ms, 300ms);
  replica_->cont();
  RawRedis copy(*replica_);
  must_say_ok(copy, {"REPLICAOF", "NO", "ONE"});
  primary_->restart();
  swap(log, begin);
  follow();
}

void Topology::strand_old_primary(SharedLog& log) {
  const Time begin = log.now();
  pause_writes();
  RawRedis raw(*primary_);
  RawRedis copy(*replica_);
  must_say_ok(copy, {"REPLICAOF", "NO", "ONE"});
  must_say_ok(raw, {"REPLICAOF", "127.0.0.1", std::to_string(test::free_port())});
  must_say_ok(raw, {"CLIENT", "UNPAUSE"});
  swap(log, begin);
}

std::size_t subscriptions_of_ours(const RedisServer& server) {
  return RawRedis(server).call({"PUBSUB", "CHANNELS", "hf:*"})->elements;
}

}  // namespace holdfast::faults
