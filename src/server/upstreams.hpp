// SPDX-License-Identifier: Apache-2.0
//
// What an operation under a lock may call: names from the configuration, never a URL from a
// request.
#pragma once

#include <holdfast/error.hpp>
#include <holdfast/task.hpp>

#include "net/http/client_message.hpp"
#include "runtime/runtime.hpp"

#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace holdfast::net::http {
class Client;
}

namespace holdfast::server {

struct UpstreamCall {
  std::string method = "POST";
  net::http::Headers headers{};
  std::string body{};
  runtime::LocalTime deadline{};
  std::stop_token stop{};
};

class Upstreams {
 public:
  using Urls = std::map<std::string, std::string, std::less<>>;

  // Connects to nobody. The URLs must have passed `check`; what is no URL is left out.
  Upstreams(const std::shared_ptr<runtime::Runtime>& runtime, const Urls& urls);
  Upstreams(const Upstreams&) = delete;
  Upstreams& operator=(const Upstreams&) = delete;
  ~Upstreams();

  bool has(std::string_view name) const;
  // Errors as Client::send. The name must be there.
  Task<Result<net::http::ClientResponse>> send(std::string_view name, UpstreamCall call);

 private:
  struct Upstream {
    std::unique_ptr<net::http::Client> client;
    std::string target;  // path and query, as the operator wrote them
  };
  std::map<std::string, Upstream, std::less<>> by_name_;
};

// Where an upstream's URL leads, and what to ask for there. A user and a password become an
// Authorization header. Errors: bad_input.
struct UpstreamPlace {
  net::http::Origin origin;
  std::string target;
};
Result<UpstreamPlace> parse_upstream(std::string_view url);

}  // namespace holdfast::server
