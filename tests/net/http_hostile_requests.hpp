// SPDX-License-Identifier: Apache-2.0
//
// Requests that are refused before anybody handles them, for the reader alone and for a server.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

namespace holdfast::test {

inline std::string with_header(std::string_view lines) {
  return fmt::format("GET / HTTP/1.1\r\nHost: a\r\n{}\r\n", lines);
}

inline std::string chunked(std::string_view body) {
  return fmt::format("POST /p HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n{}", body);
}

inline std::string with_length(std::size_t length, std::string_view body) {
  return fmt::format("POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n{}", length, body);
}

struct Hostile {
  std::string what;
  std::string bytes;
  int status;
  std::string code;
};

inline std::vector<Hostile> hostile_requests() {
  using namespace std::string_literals;
  const std::string malformed = "malformed_request";
  std::string many_headers;
  for (int i = 0; i < 10'000; ++i) many_headers += fmt::format("X-{}: y\r\n", i);
  std::string too_many;
  for (int i = 0; i < 64; ++i) too_many += fmt::format("X-{}: y\r\n", i);
  return {
      {"two lengths that differ", with_header("Content-Length: 1\r\nContent-Length: 2\r\n") + "ab",
       400, malformed},
      {"the same length twice", with_header("Content-Length: 1\r\nContent-Length: 1\r\n") + "a",
       400, malformed},
      {"the same length twice in one line", with_header("Content-Length: 1, 1\r\n") + "a", 400,
       malformed},
      {"a length that is no number", with_header("Content-Length: +1\r\n") + "a", 400, malformed},
      {"a negative length", with_header("Content-Length: -1\r\n"), 400, malformed},
      {"an empty length", with_header("Content-Length:\r\n"), 400, malformed},
      {"a length beyond 64 bits", with_header("Content-Length: 18446744073709551617\r\n"), 400,
       malformed},
      {"a length of almost 64 bits", with_header("Content-Length: 18446744073709551615\r\n"), 413,
       "body_too_long"},
      {"length and chunks", with_header("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"), 400,
       malformed},
      {"chunks and length", with_header("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"), 400,
       malformed},
      {"an encoding that is not chunked", with_header("Transfer-Encoding: gzip\r\n"), 501,
       "transfer_encoding"},
      {"an encoding below the chunks", with_header("Transfer-Encoding: gzip, chunked\r\n"), 501,
       "transfer_encoding"},
      {"an encoding above the chunks", with_header("Transfer-Encoding: chunked, gzip\r\n"), 501,
       "transfer_encoding"},
      {"an encoding in two lines",
       with_header("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n"), 501,
       "transfer_encoding"},
      {"chunks twice", with_header("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"),
       400, malformed},
      {"almost chunked", with_header("Transfer-Encoding: xchunked\r\n"), 501, "transfer_encoding"},
      {"chunks in HTTP/1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400,
       malformed},
      {"a chunk size beyond 64 bits", chunked("10000000000000001\r\na"), 413, "body_too_long"},
      {"a chunk size of almost 64 bits", chunked("ffffffffffffffff\r\na"), 413, "body_too_long"},
      {"a chunk size that is no number", chunked("xyz\r\n"), 400, malformed},
      {"a negative chunk size", chunked("-1\r\n\r\n"), 400, malformed},
      {"a chunk without a size", chunked(";x\r\n"), 400, malformed},
      {"a chunk with a bare line feed", chunked("1\na\r\n"), 400, malformed},
      {"a trailer with a zero byte", chunked("0\r\nX: \0\r\n\r\n"s), 400, malformed},
      {"a chunk with 0x", chunked("0x5\r\nhello\r\n\r\n"), 400, malformed},
      {"a chunk longer than it says", chunked("2\r\nhello\r\n0\r\n\r\n"), 400, malformed},
      {"a chunk extension of a megabyte", chunked("5;" + std::string(1 << 20U, 'x')), 431,
       "headers_too_long"},
      {"a trailer of a megabyte", chunked("0\r\nX: " + std::string(1 << 20U, 'x')), 431,
       "headers_too_long"},
      {"a folded line", with_header("X: a\r\n b\r\n"), 400, malformed},
      {"a line folded by a tab", with_header("X: a\r\n\tb\r\n"), 400, malformed},
      {"bare line feeds", "GET / HTTP/1.1\nHost: a\n\n", 400, malformed},
      {"a bare line feed in a header", with_header("X: a\nY: b\r\n"), 400, malformed},
      {"a bare carriage return", with_header("X: a\rY: b\r\n"), 400, malformed},
      {"a zero byte in a value", with_header("X: a\0b\r\n"s), 400, malformed},
      {"a zero byte in a name", with_header("X\0: a\r\n"s), 400, malformed},
      {"a zero byte in the target", "GET /\0 HTTP/1.1\r\nHost: a\r\n\r\n"s, 400, malformed},
      {"a space before the colon", with_header("X : a\r\n"), 400, malformed},
      {"a header without a colon", with_header("X\r\n"), 400, malformed},
      {"a header without a name", with_header(": a\r\n"), 400, malformed},
      {"ten thousand headers", with_header(many_headers), 431, "headers_too_long"},
      {"one header too many", with_header(too_many), 431, "too_many_headers"},
      {"HTTP/0.9", "GET /\r\n\r\n", 400, malformed},
      {"the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505, "http_version"},
      {"HTTP/1.2", "GET / HTTP/1.2\r\nHost: a\r\n\r\n", 505, "http_version"},
      {"HTTP/3", "GET / HTTP/3\r\nHost: a\r\n\r\n", 505, "http_version"},
      {"no HTTP", "GET / SPDY/1.1\r\nHost: a\r\n\r\n", 505, "http_version"},
      {"TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"s, 400, malformed},
      {"a space in the target", "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n", 505, "http_version"},
      {"a method of 20 kB", std::string(20'000, 'G') + " / HTTP/1.1\r\nHost: a\r\n\r\n", 431,
       "headers_too_long"},
      {"a target of 20 kB", "GET /" + std::string(20'000, 'x') + " HTTP/1.1\r\nHost: a\r\n\r\n",
       431, "headers_too_long"},
      {"no Host", "GET / HTTP/1.1\r\n\r\n", 400, malformed},
      {"two Hosts", with_header("Host: b\r\n"), 400, malformed},
      {"the same Host twice", with_header("Host: a\r\n"), 400, malformed},
      {"a body one byte too long", with_length(65'537, ""), 413, "body_too_long"},
      {"chunks one byte too long",
       chunked("10000\r\n" + std::string(65'536, 'x') + "\r\n1\r\nx\r\n"), 413, "body_too_long"},
  };
}

}  // namespace holdfast::test
