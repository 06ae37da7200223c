// SPDX-License-Identifier: Apache-2.0
//
// Stands up for leases of ours in a dialect where whoever tries in vain changes the ttl of the
// holder's key. Redis tells whoever read a key with tracking on that somebody changed it; a renewal
// that asks for nothing then sets it back (see is_anyones in lua/dialects).
#pragma once

#include "backends/redis/server.hpp"

#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace holdfast::backends::redis {

class Defence : public std::enable_shared_from_this<Defence> {
 public:
  explicit Defence(std::shared_ptr<Server> server) : server_(std::move(server)) {}

  // The answer to this command was a lease, or the end of one.
  void heard(const LockName& name, const model::LockCommand& command, const store::Reply& reply);
  // The payload of an invalidation: keys, or nil for all.
  void changed(const redisReply& keys);
  // Whatever was done while nobody told us.
  void all_may_have_changed();

 private:
  struct Lease {
    LockName name;
    OwnerId owner;
    model::RequestId request{};
    runtime::LocalTime ends{};
    bool is_looked_after = false;  // by a call of look_after
    bool must_look_again = false;
  };

  void stand_up_for(Lease lease);
  void changed(const std::string& key);
  Task<bool> look_after(std::string key);
  // One round. True if it is still there, and will be told of.
  Task<bool> set_back(Lease lease);
  bool is_done(const std::string& key, bool is_held);

  const std::shared_ptr<Server> server_;
  std::mutex mutex_;
  std::map<std::string, Lease> leases_;  // by the key that is shared; guarded by mutex_
  std::size_t sweep_at_ = 64;            // guarded by mutex_
};

}  // namespace holdfast::backends::redis
