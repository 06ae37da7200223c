// SPDX-License-Identifier: Apache-2.0
#include "net/http/message.hpp"

#include <boost/beast/core/string.hpp>

#include <algorithm>
#include <array>

namespace holdfast::net::http {

std::string_view to_string(Method method) noexcept {
  constexpr std::array<std::string_view, 7> words{"GET",    "HEAD",    "POST", "PUT",
                                                  "DELETE", "OPTIONS", "OTHER"};
  return words[static_cast<std::size_t>(method)];
}

void append_header(std::string_view name, std::string_view value, std::string& out) {
  out.append(name).append(": ");
  for (const char each : value) out.push_back(each == '\r' || each == '\n' ? ' ' : each);
  out.append("\r\n");
}

std::string_view Request::header(std::string_view name) const noexcept {
  const auto found = std::ranges::find_if(
      headers, [name](const Header& each) { return boost::beast::iequals(each.name, name); });
  return found == headers.end() ? std::string_view{} : found->value;
}

bool Request::has_header(std::string_view name) const noexcept {
  return std::ranges::any_of(
      headers, [name](const Header& each) { return boost::beast::iequals(each.name, name); });
}

}  // namespace holdfast::net::http
