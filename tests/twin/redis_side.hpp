// SPDX-License-Identifier: Apache-2.0
//
// The scripts in a real Redis, with a clock that the test moves and real subscribers.
#pragma once

#include "backends/redis/wire.hpp"
#include "shared_key.hpp"
#include "support/redis_server.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace holdfast::test {

struct Step {
  LockName name;
  model::LockCommand command;
  backends::redis::Sending sending;
};

struct StepAnswer {
  Result<store::Reply> reply;
  Result<backends::redis::Snapshot> after;  // what an inspection right after the step saw
  std::vector<model::Message> messages;     // as they arrived
  std::optional<SharedKey> shared;          // in a dialect
};

class RedisSide {
 public:
  explicit RedisSide(std::uint32_t audit = 0, backends::redis::Dialect dialect = {});

  // As if the server was new. Listeners stay.
  void forget_everything();
  void listen(model::ProcessId process);
  void stop_listening(model::ProcessId process);

  // Ends the keys whose time has come and returns how many are left, those of the test included.
  std::uint64_t move_clock(model::StoreTime now);
  // One round trip for all of them, which happen one after the other.
  std::vector<StepAnswer> round(const std::vector<Step>& steps);

 private:
  std::string look_at_shared_key(const LockName& name) const;
  void receive_messages(const std::vector<Step>& steps, std::vector<StepAnswer>& answers);

  RedisServer server_;
  RawRedis commands_{server_.unix_path()};
  RawRedis listener_{server_.unix_path()};
  const backends::redis::Dialect dialect_;
  backends::redis::Scripts scripts_;
  std::string clock_sha1_;
  std::string shared_key_sha1_;
};

}  // namespace holdfast::test
