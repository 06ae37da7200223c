// SPDX-License-Identifier: Apache-2.0
//
// From a request to its endpoint and back.
#pragma once

#include "net/http/service.hpp"
#include "server/http/endpoint_limits.hpp"
#include "server/http/guard.hpp"
#include "server/http/router.hpp"

namespace holdfast::server {

class App final : public net::http::Service {
 public:
  App(Services& services, const Router& router, std::vector<std::string> hosts);

  Task<Response> handle(const net::http::Request& request) override;
  Response refuse(const net::http::RequestReader::Refusal& refusal,
                  const net::http::Peer& peer) override;

 private:
  struct Begun;

  Task<Response> dispatch(const net::http::Request& request, const Route** route);
  Response finish(const Begun& begun, Response response);
  Task<Response> finish_later(Begun begun, Task<Response> task);
  void write_down(const Begun& begun, const Response& response) const;
  void deny(const net::http::Request& request, const Problem& problem);
  void allow_origin(const Begun& begun, Response& response) const;
  Response preflight(const net::http::Request& request) const;

  Services& services_;
  const Router& router_;
  const Guard guard_;
  const EndpointLimits limits_;
};

}  // namespace holdfast::server
