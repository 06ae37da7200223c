// SPDX-License-Identifier: Apache-2.0
#include "server/forrst/upstream_function.hpp"

#include <holdfast/forrst/service.hpp>

#include "net/http/client.hpp"
#include "server/forrst/result.hpp"
#include "server/log.hpp"
#include "server/upstreams.hpp"

#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace holdfast::server {

namespace {

using forrst::Invocation;
using forrst::Outcome;
using net::http::ClientRequest;
using net::http::ClientResponse;
namespace codes = forrst::codes;

// Of one function; calls beyond it wait for a connection.
constexpr std::size_t max_connections = 64;

struct Upstream {
  Upstream(std::shared_ptr<runtime::Runtime> on, UpstreamPlace place)
      : runtime(std::move(on)),
        client(runtime, std::move(place.origin)),
        target(std::move(place.target)) {}

  std::shared_ptr<runtime::Runtime> runtime;
  net::http::Client client;
  std::string target;
};

// Not 503: gateways say so too of a request that was on its way.
constexpr std::array<std::pair<int, std::string_view>, 7> known_statuses{
    {{400, codes::invalid_arguments},
     {404, codes::not_found},
     {409, codes::conflict},
     {410, codes::gone},
     {422, codes::invalid_arguments},
     {429, codes::rate_limited},
     {504, codes::deadline_exceeded}}};

std::string_view code_of(int status) {
  const auto* const found =
      std::ranges::find(known_statuses, status, [](const auto& each) { return each.first; });
  return found == known_statuses.end() ? codes::dependency_error : found->second;
}

ClientRequest request_of(const Invocation& call, std::string target) {
  ClientRequest request{.method = "POST",
                        .target = std::move(target),
                        .headers = {{"Content-Type", "application/json"}},
                        .body = boost::json::serialize(call.arguments)};
  auto& headers = request.headers;
  if (call.lock) {
    headers.emplace_back("Holdfast-Fence", std::to_string(call.lock->fence));
    headers.emplace_back("Holdfast-Resource", call.lock->full_key);
  }
  headers.emplace_back("X-Forrst-Request-Id", call.id);
  if (!call.idempotency_key.empty()) {
    headers.emplace_back("Idempotency-Key", call.idempotency_key);
    if (call.took_over) headers.emplace_back("Holdfast-Taken-Over", "true");
  }
  return request;
}

// Addresses and the like are for operators.
void note(const Invocation& call, std::string reason) {
  log(LogLevel::warning, "forrst upstream",
      {{"function", call.function}, {"reason", std::move(reason)}});
}

Outcome judge_answer(const Invocation& call, const ClientResponse& answer) {
  const int status = answer.status;
  if (status >= 200 && status < 300) {
    if (auto result = parse_result(answer.body)) return std::move(*result);
    note(call, fmt::format("status {} with a body that is no JSON", status));
    return failed(codes::dependency_error,
                  "The function's service answered with something that is no JSON",
                  {{"status", status}});
  }
  if (auto fault = parse_fault(answer.body)) return std::unexpected(std::move(*fault));
  return failed(code_of(status), fmt::format("The function's service answered {}", status),
                {{"status", status}});
}

Outcome judge_failure(const Invocation& call, const Error& error) {
  note(call, error.message);
  if (error.code != Errc::outcome_unknown) {
    return failed(codes::unavailable, "The function's service cannot be reached");
  }
  if (is_out_of_time(call.deadline)) {
    return failed(codes::deadline_exceeded, "The function's service did not answer in time");
  }
  return failed(codes::dependency_error,
                "The function's service did not answer; it may have done the work");
}

Task<Outcome> ask_upstream(std::shared_ptr<Upstream> upstream, Invocation call) {
  const auto runtime = upstream->runtime;
  std::stop_source cancel;
  // From the runtime's thread, because this resumes the coroutine, which may end inside of it.
  const std::stop_callback on_stop(call.stop, [runtime, cancel] {
    runtime->post([cancel]() mutable { cancel.request_stop(); });
  });
  ClientRequest request = request_of(call, upstream->target);
  request.deadline = runtime->now() + (call.deadline - std::chrono::steady_clock::now());
  request.stop = cancel.get_token();
  auto sending = upstream->client.send(std::move(request));
  const Result<ClientResponse> answer = co_await std::move(sending);
  if (!answer) co_return judge_failure(call, answer.error());
  co_return judge_answer(call, *answer);
}

}  // namespace

Result<forrst::AsyncHandler> upstream_function(const std::shared_ptr<runtime::Runtime>& runtime,
                                               std::string_view url) {
  auto place = parse_upstream(url);
  if (!place) return std::unexpected(std::move(place.error()));
  place->origin.max_body_bytes = forrst::max_result_bytes;
  place->origin.max_connections = max_connections;
  const auto upstream = std::make_shared<Upstream>(runtime, std::move(*place));
  return [upstream](Invocation call) { return ask_upstream(upstream, std::move(call)); };
}

}  // namespace holdfast::server
