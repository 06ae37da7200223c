// SPDX-License-Identifier: Apache-2.0
#include "backends/remote/server.hpp"

#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include <cctype>

namespace holdfast::backends::remote {

using net::http::ClientRequest;
using net::http::ClientResponse;

Server::Server(std::shared_ptr<runtime::Runtime> runtime, const Options& options, Changed changed)
    : runtime_(std::move(runtime)),
      asked_{options.origin.describe(), options.token_source},
      changed_(std::move(changed)),
      client_(std::make_shared<net::http::Client>(
          runtime_, options.origin,
          [contact = contact_, clock = runtime_] { contact->failed(clock->now()); })) {}

void Server::answered(const std::string& server) {
  if (contact_->answered(server)) runtime_->post(changed_);
}

void Server::note(const Result<ClientResponse>& answer) {
  // A proxy that answers in its place says nothing about the server.
  const auto server = answer ? answer->header(server_header) : std::string_view();
  if (!server.empty()) answered(std::string(server));
}

Task<Result<ClientResponse>> Server::send(ClientRequest request) {
  const auto self = shared_from_this();
  request.headers.emplace_back(protocol_header, protocol_version);
  auto sending = client_->send(std::move(request));
  Result<ClientResponse> answer = co_await std::move(sending);
  note(answer);
  co_return answer;
}

Task<Result<ClientResponse>> Server::post(std::string path, boost::json::object body,
                                          LocalTime deadline, std::stop_token stop, Sending how) {
  return send({.method = "POST",
               .target = std::move(path),
               .headers = {{"Content-Type", "application/json"}},
               .body = boost::json::serialize(body),
               .deadline = deadline,
               .stop = std::move(stop),
               .repeatable = how.repeatable,
               .settled = std::move(how.settled)});
}

Task<Result<boost::json::object>> Server::get(std::string target, LocalTime deadline) {
  const auto self = shared_from_this();
  ClientRequest request{.target = std::move(target), .deadline = deadline, .repeatable = true};
  auto sending = send(std::move(request));
  const Result<ClientResponse> answer = co_await std::move(sending);
  // Looking changes nothing, so it is never open what happened.
  const auto calm = [](Error error) {
    if (error.code == Errc::outcome_unknown) error.code = Errc::unavailable;
    return std::unexpected(std::move(error));
  };
  if (!answer) co_return calm(answer.error());
  auto read = read_answer(*answer, asked_);
  if (!read) co_return calm(std::move(read.error()));
  co_return std::move(*read);
}

Task<Result<Info>> Server::info(LocalTime deadline) {
  const auto self = shared_from_this();
  auto asking = get("/v1/store/info", deadline);
  const Result<boost::json::object> answer = co_await std::move(asking);
  if (!answer) co_return std::unexpected(answer.error());
  auto info = parse_info(*answer);
  if (info) co_return std::move(*info);
  co_return fail(Errc::unsupported, fmt::format("{}: does not speak our protocol: {}", asked_.peer,
                                                info.error().message));
}

std::string percent_encoded(std::string_view text) {
  std::string out;
  for (const char each : text) {
    const auto byte = static_cast<unsigned char>(each);
    if (std::isalnum(byte) != 0 || each == '-' || each == '_' || each == '.' || each == '~') {
      out.push_back(each);
    } else {
      out += fmt::format("%{:02X}", byte);
    }
  }
  return out;
}

}  // namespace holdfast::backends::remote
