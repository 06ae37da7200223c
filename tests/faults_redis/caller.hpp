// SPDX-License-Identifier: Apache-2.0
//
// Takes locks through the public interface, and writes down what it was told.
#pragma once

#include <holdfast/client.hpp>

#include "faults_redis/shared_log.hpp"

#include <atomic>
#include <memory>
#include <optional>
#include <stop_token>

namespace holdfast::faults {

// A lock of a test. The number of the name is its place among the names of the log, from 1.
struct LockPlan {
  history::NameId name = 0;
  Kind kind = Kind::mutex;
  std::uint32_t capacity = all_permits;  // of a semaphore
};

struct Want {
  LockPlan lock;
  std::uint32_t permits = all_permits;  // 1 of a read-write lock: a reader
  Micros ttl{};
  Micros wait{};
  bool renew = true;
  bool queues = true;
  Micros renew_every{};   // 0: as the library does it
  bool says_who = false;  // the owner is "op-" and the number of the attempt
};

class Caller {
 public:
  // What is held. Not moved while it is held: the log of the lease knows its number only.
  struct Hold {
    OpId op = 0;
    Lease lease;
    Micros ttl{};
    Time noted = 0;  // when it was looked at last with a result worth noting ...
    Time until = 0;  // ... and until when it was good then
    bool exclusive = false;
    // The attempt that made it exclusive, while it is; 0 if it was so from the start, or is shared.
    std::shared_ptr<std::atomic<OpId>> upgraded;
    OpId user() const { return *upgraded != 0 ? upgraded->load() : op; }
  };
  struct Refusal {
    OpId op = 0;
    Error error;
  };
  using Answer = std::expected<Hold, Refusal>;

  // The log outlives the client and its leases.
  Caller(Client client, SharedLog& log, ProcessId process)
      : client_(std::move(client)), log_(log), process_(process) {}

  Answer acquire(const Want& want, std::stop_token stop = {});
  // Whether the lease is good; notes a renewal that went on meanwhile. Look more often than leases
  // are renewed.
  bool look(Hold& hold);
  // Looks now and then, for so long, or until the lease has ended or a stop is requested.
  void keep(Hold& hold, Micros time, const std::stop_token& stop = {});
  // Adds one to what the lock protects, if it is exclusive. Whether that was accepted.
  bool increment(Hold& hold, Micros thinks = {});
  // A shared lease of a read-write lock becomes exclusive, and shared again.
  bool upgrade(Hold& hold, Micros wait, std::stop_token stop = {});
  bool downgrade(Hold& hold);
  Result<Released> release(Hold& hold);
  // Through the destructor, which says nothing.
  void drop(Hold hold);

  const Client& client() const { return client_; }
  SharedLog& log() { return log_; }

 private:
  void let_go(Hold& hold);
  Result<Lease> ask(const Want& want, OpId op, std::stop_token stop);

  Client client_;
  SharedLog& log_;
  const ProcessId process_;
};

Detail detail_of(Errc code);

}  // namespace holdfast::faults
