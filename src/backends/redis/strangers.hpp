// SPDX-License-Identifier: Apache-2.0
//
// Wakes waiters when a program without messages of ours changes the key it holds. Redis tells that
// to whoever read the key with tracking on: for a release or an overwrite within microseconds, for
// an expiry late or never, which is why every wait also has a timer.
#pragma once

#include "backends/redis/server.hpp"
#include "store/mailbox.hpp"

#include <map>
#include <mutex>
#include <vector>

namespace holdfast::backends::redis {

// The channel that invalidations come through.
inline constexpr std::string_view invalidation_channel = "__redis__:invalidate";

// Two commands after which the first change of one of the keys is told, once.
std::string track(const std::vector<std::string>& keys);

class Strangers : public std::enable_shared_from_this<Strangers> {
 public:
  Strangers(std::shared_ptr<Server> server, std::shared_ptr<store::Mailbox> mailbox);

  // The subscription has this number at the server; 0 if there is none. Tracking leads to it.
  void redirect_to(std::uint64_t client_id);
  // What a new connection for commands has to be told.
  std::vector<std::string> greeting();

  // This waiter of ours stands behind one of theirs.
  void wait_for(const LockName& name, model::RequestId request);
  // The payload of an invalidation: keys, or nil for all.
  void changed(const redisReply& keys);

 private:
  Task<bool> track(std::vector<std::string> keys);
  void wake_first(const std::string& key);

  const std::shared_ptr<Server> server_;
  const std::shared_ptr<store::Mailbox> mailbox_;
  std::mutex mutex_;
  std::uint64_t client_id_ = 0;  // guarded by mutex_
  struct Line {
    std::vector<model::RequestId> requests;
    bool is_tracked = false;
  };
  std::map<std::string, Line> waiting_;  // by key; guarded by mutex_
};

}  // namespace holdfast::backends::redis
