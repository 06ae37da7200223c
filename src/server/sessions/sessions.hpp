// SPDX-License-Identifier: Apache-2.0
//
// A session is a lock that its client keeps alive, and the leases bound to it. The lock is in the
// store, so that any server can keep it alive and every server can see that it ended. The leases
// are renewed by the server that granted them, for as long as the session lives, and only those;
// when it ends they are released together.
#pragma once

#include "client/held_lease.hpp"
#include "server/who.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::server {

class Journal;
struct Limits;

inline constexpr Micros min_session_ttl = std::chrono::seconds(1);
inline constexpr Micros max_session_ttl = std::chrono::hours(1);
inline constexpr Micros default_session_ttl = std::chrono::seconds(15);

// What follows from a session's secret.
struct SessionId {
  std::string public_id;  // may be shown
  LockName lock;          // "holdfast:session:<public id>"
  OwnerId keeper;         // holds that lock
  OwnerId owner;          // holds the locks bound to the session

  static SessionId of(std::string_view secret);
};

// The session's own ttl, which every server can read in its secret: whoever changes it there has
// the secret of no session. Secrets of older servers have none.
Micros ttl_in(std::string_view secret);

class Sessions : public std::enable_shared_from_this<Sessions> {
 public:
  struct Alive {
    std::string secret;
    std::string public_id;
    Micros remaining{};
  };
  struct Shown {
    std::string public_id;
    std::string principal;
    std::vector<std::string> names;
  };

  Sessions(std::shared_ptr<client::Core> core, Journal& journal, const Limits& limits)
      : core_(std::move(core)), journal_(journal), limits_(limits) {}

  void start();
  // Leases stay with their clients until their ttl ends: to release them would let somebody else in
  // while a client still believes in them.
  void stop();

  // Errors: limit_reached, unavailable.
  Task<Result<Alive>> begin(Who who, Micros ttl);
  // For its own ttl, if nothing is said. Errors: not_held when there is no such session (any more).
  Task<Result<Alive>> keep_alive(std::string secret, std::optional<Micros> ttl);
  // Releases what is bound to it, here at once, on other servers within a second. How many here.
  Task<Result<std::size_t>> end(Who who, std::string secret);

  // From now on the session's. Errors: limit_reached, not_held.
  Result<void> may_bind(const SessionId& session) const;
  void bind(const SessionId& session, const Who& who, std::shared_ptr<client::HeldLease> lease);
  // The client released this lease itself; `any`: all that the session has on this name up to the
  // fence.
  void forget(std::string_view name, const OwnerId& owner, model::RequestId request, Fence up_to);

  std::size_t count() const;
  std::vector<Shown> list() const;

 private:
  struct Bound {
    SessionId id;
    Who who;
    std::vector<std::shared_ptr<client::HeldLease>> leases;
    bool is_asking = false;
  };

  void arm();
  void tick();
  Task<bool> look_after(SessionId id);
  std::size_t release_all(const std::string& public_id, std::string_view why);
  void drop_if_empty(const std::string& public_id);  // with mutex_ held
  void lost(const std::string& public_id, const std::string& name, Fence fence);

  const std::shared_ptr<client::Core> core_;
  Journal& journal_;
  const Limits& limits_;

  mutable std::mutex mutex_;
  // All below is guarded by mutex_.
  std::map<std::string, Bound, std::less<>> bound_;           // by public id
  std::map<std::string, std::string, std::less<>> by_owner_;  // to public ids
  bool is_stopped_ = false;
  runtime::TimerId timer_{};
};

}  // namespace holdfast::server
