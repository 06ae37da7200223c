// SPDX-License-Identifier: Apache-2.0
//
// server.rate_limits in force: what stands between the guard and an endpoint.
#pragma once

#include "recipes/rate_limit.hpp"
#include "server/http/call.hpp"
#include "server/http/router.hpp"
#include "server/options.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace holdfast::server {

// Scopes of rate limits that begin so are the server's own: clients cannot use them up.
inline constexpr std::string_view own_scope_prefix = "holdfast-server:";

class KeptCall;

class EndpointLimits {
 public:
  EndpointLimits(Services& services, const Router& router);

  // The endpoint's answer with the headers of the tightest limit, or 429 and no endpoint is called.
  Task<Response> run(const Call& call, const Route& route) const;

  // Errors: unsupported, if the store says at once that it cannot count.
  static Result<void> check_store(const std::shared_ptr<client::Core>& core,
                                  const ServerOptions& options);

 private:
  using Answer = Result<RateOutcome>;
  struct Round;

  Task<Answer> ask(Round& round, const Call& call) const;
  std::optional<Response> judge(Round& round, const Answer& answer) const;
  Task<Response> run_later(std::unique_ptr<KeptCall> kept, const Route* route, Round round,
                           Task<Answer> asking) const;

  Services& services_;
  // By the pattern of a route, in the order of the configuration.
  std::map<std::string_view, std::vector<const EndpointLimit*>> by_pattern_;
};

}  // namespace holdfast::server
