// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/http/client_message.hpp"

#include <boost/beast/http/basic_parser.hpp>

#include <optional>

namespace holdfast::net::http {

// Bytes in, one response out. Bodies with a length, in chunks, or until the connection ends.
class ResponseReader {
 public:
  enum class Progress : std::uint8_t { needs_more, complete, malformed };
  // Given the pieces of a 2xx body instead of gathering them.
  using Sink = std::function<void(std::string_view)>;

  struct Options {
    std::size_t max_body_bytes = 1 << 20U;
    bool is_answer_to_head = false;
    std::function<void(const ClientResponse&)> on_head{};  // before the body
    Sink sink{};                                           // without a limit on the whole
  };
  explicit ResponseReader(Options options);
  ResponseReader(const ResponseReader&) = delete;
  ResponseReader& operator=(const ResponseReader&) = delete;

  // `malformed` says that nothing more can be understood, also what is too long.
  Progress feed(std::string_view bytes);
  // The connection ended: a body without a length is whole now.
  Progress end();
  bool is_empty() const { return is_empty_; }  // not one byte came
  bool keeps_alive() const;                    // the connection; asked after `complete`
  const std::string& complaint() const { return complaint_; }
  ClientResponse take() { return std::move(response_); }

 private:
  class Parser;
  Progress parse();
  Progress refuse(const boost::beast::error_code& why);
  void start();

  const Options options_;
  ClientResponse response_;
  std::shared_ptr<Parser> parser_;  // replaced behind a 1xx
  std::string unread_;
  std::string complaint_;
  bool is_empty_ = true;
};

}  // namespace holdfast::net::http
