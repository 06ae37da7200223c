// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/http/client_connection.hpp"

#include <memory>

namespace holdfast::net::http {

// An answer without an end, on a connection of its own. Letting it go closes it, from any thread:
// no event begins afterwards, but one may just be running on the runtime's thread.
class ClientStream {
 public:
  class Shared;
  explicit ClientStream(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}
  ClientStream(const ClientStream&) = delete;
  ClientStream& operator=(const ClientStream&) = delete;
  ~ClientStream();

 private:
  std::shared_ptr<Shared> shared_;
};

std::unique_ptr<ClientStream> open_client_stream(std::shared_ptr<runtime::Runtime> runtime,
                                                 const Origin& origin, const ClientRequest& request,
                                                 StreamEvents events);

}  // namespace holdfast::net::http
