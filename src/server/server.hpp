// SPDX-License-Identifier: Apache-2.0
//
// The whole server: threads, addresses, and an orderly end.
#pragma once

#include <holdfast/error.hpp>

#include "server/options.hpp"

#include <memory>
#include <string>
#include <vector>

namespace holdfast::client {
class Core;
}

namespace holdfast::server {

class Server {
 public:
  // Opens nothing but the addresses: the store is the caller's. The options must have passed
  // `check`. Errors: bad_input (token file), unavailable (address in use, certificate).
  static Result<std::unique_ptr<Server>> start(ServerOptions options,
                                               std::shared_ptr<client::Core> core);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server();

  // As they were bound: "127.0.0.1:3009".
  std::vector<std::string> addresses() const;
  // Reads tokens and certificates again. On an error what was there stays in force.
  Result<void> reload();
  // Accepts nothing more, ends waits, finishes what is under way, at the latest after
  // options.drain. What a handler may still use that does not end even then is kept for ever.
  void stop();

 private:
  struct Parts;
  explicit Server(std::unique_ptr<Parts> parts);
  static void leave_behind(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace holdfast::server
