// SPDX-License-Identifier: Apache-2.0
//
// A plain, blocking HTTP client for tests, with a door for bytes that are no HTTP at all.
#pragma once

#include <boost/json/value.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::test {

struct HttpAnswer {
  int status = 0;                                           // 0: the connection ended without one
  std::map<std::string, std::string, std::less<>> headers;  // names in lower case
  std::string body;

  boost::json::value json() const;                    // null if it is no JSON
  std::string text(std::string_view field) const;     // of the JSON object; empty if it has none
  std::int64_t number(std::string_view field) const;  // -1 if it has none
  std::string code() const { return text("code"); }
  std::string header(std::string_view name) const {  // empty if it has none
    const auto found = headers.find(name);
    return found == headers.end() ? std::string() : found->second;
  }
};

// One connection. Not for several threads. A patience is meant for an idle machine
// (support/timing.hpp).
class HttpConnection {
 public:
  // "127.0.0.1:3009" or "unix:/path".
  explicit HttpConnection(const std::string& address);
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;
  ~HttpConnection();

  bool is_connected() const { return fd_ >= 0; }
  // False if the other side does not take it.
  bool send(std::string_view bytes);
  void end_sending();
  void close();
  void reset();  // by RST
  // The next answer, waiting at most this long for each piece of it.
  HttpAnswer receive(std::chrono::milliseconds patience = std::chrono::seconds(10));
  // All that has come, as soon as this text is in it. Less if the other side closes before.
  std::string receive_until(std::string_view text);
  // Whatever comes until the other side closes.
  std::string receive_to_end();
  // Whatever comes until nothing has come for so long, on any machine.
  std::string receive_for(std::chrono::milliseconds silence);
  // True if the other side closed within this time; what came before is dropped.
  bool is_closed_within(std::chrono::milliseconds patience);
  int fd() const { return fd_; }

 private:
  // Waits for more; false if none came, or the other side closed.
  bool fill(std::chrono::microseconds time);
  std::optional<std::string> line(std::chrono::milliseconds patience);
  std::optional<std::string> bytes(std::size_t count, std::chrono::milliseconds patience);

  int fd_ = -1;
  std::string buffer_;
};

struct HttpCall {
  std::string method = "GET";
  std::string path = "/";
  std::string body{};
  std::map<std::string, std::string> headers{};
};

// The bytes of a well-formed request; a body is sent as application/json unless a header says else.
std::string request_text(const HttpCall& call, std::string_view host);

}  // namespace holdfast::test
