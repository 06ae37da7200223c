// SPDX-License-Identifier: Apache-2.0
//
// A server alone, whose clock is set now and then, or one with a replica. Beside some of them
// somebody listens to every channel.
#include "chaos/place.hpp"
#include "faults_redis/faults_fixture.hpp"
#include "faults_redis/topology.hpp"
#include "faults_redis/trouble.hpp"
#include "faults_redis/wall_clock.hpp"

#include <optional>

namespace holdfast::faults {

namespace {

class RedisPlace final : public Place {
 public:
  void start(SharedLog&, Dice& dice) override {
    const bool has_replica = dice.one_in(2);
    steps_clock_ = !has_replica && dice.one_in(3);
    server_.emplace(for_replication(), clock_.environment());
    if (has_replica) {
      second_.emplace(for_replication());
      topology_.emplace(*server_, *second_);
    }
    if (dice.one_in(3)) {
      listener_.emplace(*server_);
      listener_->call({"PSUBSCRIBE", "*"});
    }
    proxy_.emplace(address());
  }
  std::string url(bool by_the_bad_line) override {
    return "redis://127.0.0.1:" + std::to_string(by_the_bad_line ? proxy_->port() : address());
  }
  test::FaultProxy* line() override { return &*proxy_; }
  std::string left_behind() override { return faults::left_behind(primary()); }
  LoadPlan plan() const override { return {.locks = mixed_locks()}; }

  std::string_view trouble(SharedLog& log, Dice& dice) override {
    const auto which = dice.between(0, 6);
    if (topology_ && which < 2) return change_primary(log, dice);
    if (steps_clock_ && which == 0) {
      const Micros by = dice.time(100ms, 4s);
      clock_.step(dice.one_in(2) ? by : -by, log);
      return "clock set";
    }
    if (which < 4) return strike_server(log, dice);
    if (which < 6) {
      stop_for(primary(), 20ms, 1500ms, log, dice);
      return "server stopped";
    }
    kill_and_restart(primary(), 300ms, log, dice);
    return "server killed";
  }

 private:
  std::uint16_t address() { return topology_ ? topology_->relay().port() : server_->port(); }
  test::RedisServer& primary() { return topology_ ? topology_->primary() : *server_; }

  std::string_view strike_server(SharedLog& log, Dice& dice) {
    test::RawRedis raw(primary());
    const auto fault = static_cast<ServerFault>(dice.between(0, server_faults - 1));
    strike(raw, fault, log, dice, clock_.ahead());
    return fault == ServerFault::flush_all ? "server emptied" : "server disturbed";
  }

  std::string_view change_primary(SharedLog& log, Dice& dice) {
    switch (dice.between(0, 3)) {
      case 0:
      case 1: topology_->failover(log); return "failover";
      case 2: topology_->hand_over(log); return "failover";
      default:
        if (dice.one_in(2)) topology_->hold_replication();
        dice.rest(0us, 200ms);
        topology_->crash_over(log, dice);
        return "primary killed";
    }
  }

  WallClock clock_;
  bool steps_clock_ = false;
  std::optional<test::RedisServer> server_;
  std::optional<test::RedisServer> second_;
  std::optional<Topology> topology_;
  std::optional<test::RawRedis> listener_;
  std::optional<test::FaultProxy> proxy_;
};

}  // namespace

std::unique_ptr<Place> make_redis_place() { return std::make_unique<RedisPlace>(); }

}  // namespace holdfast::faults
