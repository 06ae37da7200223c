// SPDX-License-Identifier: Apache-2.0
//
// Questions to a Holdfast server, and its answers.
#pragma once

#include "backends/remote/answers.hpp"
#include "backends/remote/contact.hpp"
#include "backends/remote/options.hpp"
#include "backends/remote/protocol.hpp"
#include "net/http/client.hpp"

namespace holdfast::backends::remote {

using runtime::LocalTime;

struct Sending {
  // It does no harm if the server gets it twice, over a connection that broke.
  bool repeatable = true;
  std::function<void(bool is_sure)> settled{};  // as of net::http::ClientRequest
};

class Server : public std::enable_shared_from_this<Server> {
 public:
  // Called on the runtime's own thread when what was granted may be forgotten.
  using Changed = std::function<void()>;

  Server(std::shared_ptr<runtime::Runtime> runtime, const Options& options, Changed changed);

  // The answer as it came, whatever its status. Errors as those of net::http::Client.
  Task<Result<net::http::ClientResponse>> post(std::string path, boost::json::object body,
                                               LocalTime deadline, std::stop_token stop = {},
                                               Sending how = {});
  // The JSON object of a good answer; a refusal is an error.
  Task<Result<boost::json::object>> get(std::string target, LocalTime deadline);
  Task<Result<Info>> info(LocalTime deadline);

  // The server with this id is there.
  void answered(const std::string& server);
  void failed() { contact_->failed(runtime_->now()); }
  LocalTime known_since() const { return contact_->known_since(); }

  const Asked& asked() const { return asked_; }
  const std::shared_ptr<net::http::Client>& client() const { return client_; }

 private:
  Task<Result<net::http::ClientResponse>> send(net::http::ClientRequest request);
  void note(const Result<net::http::ClientResponse>& answer);

  const std::shared_ptr<runtime::Runtime> runtime_;
  const Asked asked_;
  const Changed changed_;
  const std::shared_ptr<Contact> contact_ = std::make_shared<Contact>();
  const std::shared_ptr<net::http::Client> client_;
};

// As it may stand in a query.
std::string percent_encoded(std::string_view text);

}  // namespace holdfast::backends::remote
