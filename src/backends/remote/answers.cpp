// SPDX-License-Identifier: Apache-2.0
#include "backends/remote/answers.hpp"

#include "backends/remote/json_reader.hpp"
#include "text/error_codes.hpp"
#include "text/json_parse.hpp"

#include <fmt/format.h>

namespace holdfast::backends::remote {

namespace {

struct Refusal {
  std::string code;
  std::string detail;
};

// Anything may stand between us and the server, so nothing is taken for granted.
Refusal refusal_in(const net::http::ClientResponse& response) {
  const auto parsed = text::parse_json(response.body);
  if (!parsed || !parsed->is_object()) return {};
  JsonReader reader(parsed->get_object());
  return {reader.text("code"), reader.text("detail")};
}

Errc code_by_status(int status) {
  if (status == 429) return Errc::limit_reached;
  if (status == 404 || status == 405) return Errc::unsupported;
  // Without a word of ours it is a proxy's answer, and a proxy may have passed the request on, also
  // one that says 503.
  return status >= 500 ? Errc::outcome_unknown : Errc::unavailable;
}

}  // namespace

std::string refusal_code(const net::http::ClientResponse& response) {
  return refusal_in(response).code;
}

Error explain_refusal(const net::http::ClientResponse& response, const Asked& asked) {
  const auto [code, detail] = refusal_in(response);
  const auto reason = detail.empty() ? fmt::format("answered {}", response.status) : detail;
  // The server's own words for errors of its store.
  if (const auto known = text::parse_errc(code)) {
    return {*known, fmt::format("{}: {}", asked.peer, reason)};
  }
  if (response.status == 401) {
    return {Errc::unavailable, fmt::format("{}: the server does not know our token, {}", asked.peer,
                                           asked.token_source)};
  }
  if (response.status == 403 && code == "forbidden") {
    return {Errc::unavailable, fmt::format("{}: our token, {}, does not allow this: {}", asked.peer,
                                           asked.token_source, reason)};
  }
  if (response.status == 404 && code.empty()) {
    return {
        Errc::unsupported,
        fmt::format("{}: is no Holdfast server, or one without the store protocol", asked.peer)};
  }
  return {code_by_status(response.status), fmt::format("{}: {}", asked.peer, reason)};
}

Result<boost::json::object> read_answer(const net::http::ClientResponse& response,
                                        const Asked& asked) {
  if (response.status < 200 || response.status > 299) {
    return std::unexpected(explain_refusal(response, asked));
  }
  auto parsed = text::parse_json(response.body);
  if (parsed && parsed->is_object()) return std::move(parsed->get_object());
  return fail(Errc::outcome_unknown, fmt::format("{}: the answer is not understood", asked.peer));
}

}  // namespace holdfast::backends::remote
