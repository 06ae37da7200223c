// SPDX-License-Identifier: Apache-2.0
//
// Where the waiters of remote stores are told that their turn has come: a stream for each store
// object, and on this server's own store an ear for each of its waiters. None of it is the state of
// a lock: when a stream ends its ears are closed, and their waiters come back on another one.
#pragma once

#include "client/core.hpp"
#include "net/http/message.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::server {

class WaitingRoom;
struct Principal;

class StoreStreams {
 public:
  using PrincipalPtr = std::shared_ptr<const Principal>;
  using BodyStreamPtr = std::shared_ptr<net::http::BodyStream>;

  // Who waits, and for what.
  struct Waiter {
    LockName name;
    OwnerId owner;
    model::RequestId request{};
    Kind kind = Kind::mutex;
    std::uint32_t permits = all_permits;
    model::MetadataPtr metadata;
  };
  struct Ear {
    model::ProcessId process{};  // for Acquire::process
    bool is_new = true;
  };

  StoreStreams(std::shared_ptr<client::Core> core, WaitingRoom& waiting, std::size_t max_streams);
  StoreStreams(const StoreStreams&) = delete;
  StoreStreams& operator=(const StoreStreams&) = delete;
  ~StoreStreams();

  // Unlike that of any other server, or of this one before it was started again.
  const std::string& server_id() const;

  bool is_full() const;
  // Takes the stream over: tells its name on it, and a sign of life now and then.
  void open(BodyStreamPtr body, PrincipalPtr principal);

  // Whether it is open, and was opened by the same principal.
  bool knows(std::string_view stream, const Principal& principal) const;
  // Listens for a waiter on behalf of a stream that is known; once per request. What is heard goes
  // to the stream. Errors: limit_reached, those of Store::listen, unavailable if it just ended.
  Result<Ear> listen(std::string_view stream, Waiter waiter);
  // Closes an ear. The waiter, if there was one.
  std::optional<Waiter> forget(std::string_view stream, const Principal& principal,
                               model::RequestId request);

 private:
  class Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace holdfast::server
