// SPDX-License-Identifier: Apache-2.0
#include "net/http/response_writer.hpp"

#include "net/http/status.hpp"

#include <fmt/format.h>

#include <iterator>

namespace holdfast::net::http {

namespace {

void append_status_line(int status, std::string& out) {
  // The answer almost every request gets.
  if (status == 200) {
    out += "HTTP/1.1 200 OK\r\n";
    return;
  }
  fmt::format_to(std::back_inserter(out), "HTTP/1.1 {} {}\r\n", status, reason_phrase(status));
}

}  // namespace

void write_head(const Response& response, Framing framing, bool keep_alive, std::string& out) {
  if (!response.head.empty()) {
    out.append(response.head).append(keep_alive ? "\r\n" : "Connection: close\r\n\r\n");
    return;
  }
  append_status_line(response.status, out);
  const bool may_have_body = response.status >= 200 && response.status != 204;
  if (may_have_body && !response.content_type.empty()) {
    out.append("Content-Type: ").append(response.content_type).append("\r\n");
  }
  if (framing == Framing::chunked) {
    out.append("Transfer-Encoding: chunked\r\n");
  } else if (framing == Framing::length && may_have_body) {
    out.append("Content-Length: ");
    fmt::format_to(std::back_inserter(out), "{}\r\n", response.body.size());
  }
  if (!response.cacheable) out.append("Cache-Control: no-store\r\n");
  if (response.id != 0) {
    fmt::format_to(std::back_inserter(out), "X-Request-Id: {:016x}\r\n", response.id);
  }
  for (const auto& [name, value] : response.headers) append_header(name, value, out);
  if (!keep_alive) out.append("Connection: close\r\n");
  out.append("\r\n");
}

void write_chunk(std::string_view bytes, std::string& out) {
  if (bytes.empty()) return;
  fmt::format_to(std::back_inserter(out), "{:x}\r\n", bytes.size());
  out.append(bytes).append("\r\n");
}

}  // namespace holdfast::net::http
