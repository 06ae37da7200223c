// SPDX-License-Identifier: Apache-2.0
//
// Stands up for leases of ours in a dialect where whoever tries in vain changes the ttl of the
// holder's key. Redis tells whoever read a key with tracking on that somebody changed it; a renewal
// that asks for nothing then sets it back (see is_anyones in lua/dialects).
#pragma once

#include "backends/redis/server.hpp"

#include <deque>
#include <map>
#include <mutex>
#include <string>

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
    bool is_due = false;  // in due_, or looked at right now
    bool must_look_again = false;
    bool is_retried = false;  // there is a timer

    bool is(const OwnerId& other, model::RequestId its_request) const {
      return owner == other && (request == its_request || its_request == model::RequestId::any);
    }
  };
  using Leases = std::map<std::string, Lease>;
  enum class Found : std::uint8_t { held, gone, unknown };

  void stand_up_for(Lease lease);
  void forget(const LockName& name, const model::Release& released);
  void changed(const std::string& key);
  // With mutex_ held. True if somebody has to be sent to look.
  bool look_at(Leases::iterator lease);
  void sweep();

  // Looks at what is due until nothing is. A store that is closed is not waited for.
  static Task<bool> look(std::weak_ptr<Defence> defence);
  std::optional<Leases::value_type> next();
  Task<Found> set_back(LockName name, OwnerId owner, model::RequestId request);
  void looked_at(const Leases::value_type& lease, Found found);
  void retry(const std::string& key);

  const std::shared_ptr<Server> server_;
  std::mutex mutex_;
  Leases leases_;                // by the key that is shared; guarded by mutex_
  std::deque<std::string> due_;  // keys; guarded by mutex_
  unsigned looking_ = 0;         // how many calls of look there are; guarded by mutex_
  std::size_t sweep_at_ = 64;    // guarded by mutex_
};

}  // namespace holdfast::backends::redis
