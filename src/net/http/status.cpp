// SPDX-License-Identifier: Apache-2.0
#include "net/http/status.hpp"

#include <boost/beast/http/status.hpp>

namespace holdfast::net::http {

std::string_view reason_phrase(int status) noexcept {
  const auto known = boost::beast::http::int_to_status(static_cast<unsigned>(status));
  if (known == boost::beast::http::status::unknown) return "Unknown";
  const auto phrase = boost::beast::http::obsolete_reason(known);
  return {phrase.data(), phrase.size()};
}

}  // namespace holdfast::net::http
