// SPDX-License-Identifier: Apache-2.0
//
// POST /forrst and /rpc: calls of functions. What a caller may do with which lock is asked by the
// service.
#include "runtime/start_now.hpp"
#include "server/endpoints/forrst/answers.hpp"
#include "server/forrst/caller.hpp"
#include "server/http/answer.hpp"
#include "server/http/call.hpp"
#include "server/services.hpp"

#include <array>

namespace holdfast::server {
namespace {

Task<Response> wait_for(std::shared_ptr<const forrst::Service>, Task<forrst::Reply> answering) {
  forrst::Reply reply = co_await std::move(answering);
  co_return to_response(std::move(reply));
}

Task<Response> call_function(const Call& call) {
  const auto& service = call.services.forrst;
  auto caller = caller_of(call.who(), call.services.tokens() != nullptr);
  auto answering = runtime::start_now(
      service->answer(call.request.body, std::move(caller), call.request.left()));
  if (answering.is_ready()) return done(to_response(answering.take_ready()));
  return wait_for(service, std::move(answering));
}

constexpr std::array forrst_table{
    Route{Method::post, "/forrst", Access::read, call_function, true},
    Route{Method::post, "/rpc", Access::read, call_function, true},
};

}  // namespace

extern const std::span<const Route> forrst_routes;
const std::span<const Route> forrst_routes = forrst_table;

}  // namespace holdfast::server
