// SPDX-License-Identifier: Apache-2.0
#include "forrst/transport.hpp"
#include "net/http/client.hpp"
#include "runtime/loop_runtime.hpp"
#include "runtime/spawn.hpp"
#include "text/url.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace holdfast::forrst {

namespace {

constexpr std::size_t max_token_bytes = 4096;
// Every caller is a thread that waits, so there are never more than threads. Fewer would be a trap:
// callers that wait for a lock would take the connection that its holder needs to release it.
constexpr std::size_t max_connections = 4096;

std::unexpected<Error> refuse_option(std::string_view option, std::string_view rule) {
  return fail(Errc::bad_input, fmt::format("{}: {}", option, rule));
}

// Its own thread, and not that of the locks: a callback of a lease may well call a function.
class HttpTransport final : public Transport {
 public:
  HttpTransport(net::http::Origin origin, std::string target)
      : runtime_(runtime::LoopRuntime::make()),
        client_(std::make_unique<net::http::Client>(runtime_, std::move(origin))),
        target_(std::move(target)) {}

  Result<Answer> send(std::string_view request, runtime::LocalTime deadline,
                      std::stop_token stop) override {
    if (auto good = may_block(); !good) return std::unexpected(std::move(good.error()));
    auto answer = runtime::run_blocking(client_->send({.method = "POST",
                                                       .target = target_,
                                                       .headers = headers(),
                                                       .body = std::string(request),
                                                       .deadline = deadline,
                                                       .stop = std::move(stop)}));
    if (!answer) return std::unexpected(std::move(answer.error()));
    return Answer{answer->status, std::move(answer->body)};
  }
  std::string describe() const override { return client_->origin().describe(); }

 private:
  static net::http::Headers headers() {
    return {{"Content-Type", "application/json"}, {"Accept", "application/json"}};
  }

  Result<void> may_block() const {
    if (runtime_->is_of_a_parent()) {
      return fail(Errc::unavailable,
                  describe() + " was opened before fork(): open it again in the child");
    }
    if (runtime_->on_own_thread()) {
      return fail(Errc::unsupported,
                  "a blocking call inside a callback of the same client would wait for itself");
    }
    return {};
  }

  const std::shared_ptr<runtime::LoopRuntime> runtime_;
  const std::unique_ptr<net::http::Client> client_;
  const std::string target_;
};

// What follows the authority, still encoded.
std::string target_of(std::string_view url) {
  const auto authority = url.find("//") + 2;
  const auto rest = url.substr(std::min(url.find_first_of("/?", authority), url.size()));
  return rest.starts_with('/') ? std::string(rest) : fmt::format("/{}", rest);
}

Result<void> set_token(const std::string& token, net::http::Origin& origin) {
  if (token.empty()) return {};
  // It becomes part of a header.
  const bool is_one_word =
      std::ranges::all_of(token, [](char byte) { return byte > ' ' && byte < 0x7f; });
  if (!is_one_word || token.size() > max_token_bytes) {
    return refuse_option(
        "token",
        fmt::format("must be one word of printable ASCII, at most {} bytes", max_token_bytes));
  }
  origin.headers.emplace_back("Authorization", "Bearer " + token);
  return {};
}

Result<void> set_authority(const std::string& ca_file, net::http::Origin& origin) {
  if (ca_file.empty()) return {};
  if (!origin.tls) return refuse_option("ca_file", "is only for https:");
  std::error_code failure;
  if (!std::filesystem::is_regular_file(ca_file, failure)) {
    return refuse_option("ca_file", fmt::format("names no file: '{}'", ca_file));
  }
  origin.tls->ca_file = ca_file;
  return {};
}

Result<net::http::Origin> origin_of(std::string_view url) {
  const auto parsed = text::parse_store_url(url);
  if (!parsed) return std::unexpected(parsed.error());
  const bool is_encrypted = parsed->scheme == "https";
  if ((!is_encrypted && parsed->scheme != "http") || parsed->endpoints.size() != 1) {
    return refuse_option(
        "url", text::masked(url) + " must be http://HOST/PATH, https://HOST/PATH or unix:/path");
  }
  if (!parsed->user.empty() || !parsed->password.empty()) {
    return refuse_option("url",
                         text::masked(url) + " must not have a user or a password: see token");
  }
  const auto& endpoint = parsed->endpoints.front();
  net::http::Origin origin;
  origin.host = endpoint.host;
  origin.port = endpoint.port != 0 ? endpoint.port : is_encrypted ? 443 : 80;
  origin.max_body_bytes = max_answer_bytes;
  origin.max_connections = max_connections;
  if (is_encrypted) origin.tls.emplace();
  return origin;
}

}  // namespace

Result<std::shared_ptr<Transport>> open_http(std::string_view url, const ClientOptions& options) {
  auto origin = origin_of(url);
  if (!origin) return std::unexpected(std::move(origin.error()));
  if (auto good = set_token(options.token, *origin); !good) {
    return std::unexpected(std::move(good.error()));
  }
  if (auto good = set_authority(options.ca_file, *origin); !good) {
    return std::unexpected(std::move(good.error()));
  }
  return std::make_shared<HttpTransport>(std::move(*origin), target_of(url));
}

}  // namespace holdfast::forrst
