// SPDX-License-Identifier: Apache-2.0
//
// Bytes in, requests out. Strict where leniency would let two programs read one request
// differently: two lengths, folded headers, bare line ends and stray control bytes are refused.
#pragma once

#include "net/http/chunk_reader.hpp"
#include "net/http/message.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace holdfast::net::http {

struct ReaderLimits {
  std::size_t max_header_bytes = 16 * 1024;
  std::size_t max_headers = 64;
  std::size_t max_body_bytes = 64 * 1024;
  // How long the body of a request may be that takes longer ones, or 0; null: none does.
  std::size_t (*long_body_bytes)(const Request& request) = nullptr;
  std::size_t max_long_body_bytes = 0;  // the most that it ever says
};

class RequestReader {
 public:
  enum class Progress : std::uint8_t {
    needs_header,  // and has some of it, unless is_empty()
    needs_body,
    complete,
    refused,  // see refusal(); nothing after it can be understood
  };
  // Why a request was refused, as the answer to it.
  struct Refusal {
    int status = 400;
    std::string_view code;
    std::string_view message;
    // Of the request, if its header was read so far; holds until more is read.
    std::string_view path{};
  };

  explicit RequestReader(ReaderLimits limits) : limits_(limits) {}

  // Room for the next bytes from the network, and how many came. Not while the views of a complete
  // request are still needed.
  std::span<char> space();
  void received(std::size_t bytes) { end_ += bytes; }

  // Looks at what has come so far. After `complete`, `request` has it, until `next`.
  Progress advance();
  Request& request() { return request_; }
  const Refusal& refusal() const { return refusal_; }
  // Of the request that is being read; empty while its header is not there.
  std::string_view path() const;
  // Whether the client waits for a "100 Continue" before it sends the body. Once per request.
  bool wants_continue();

  // Forgets the request; what came after it stays.
  void next();
  bool is_empty() const { return begin_ == end_; }
  std::size_t buffered() const { return end_ - begin_; }
  // Drops everything that has come.
  void discard() { begin_ = end_ = scanned_ = 0; }
  // Gives memory back while nothing is expected.
  void shrink();

 private:
  Progress read_header();
  Progress parse_header();
  void note_path();
  Progress check_framing();
  Progress check_request();
  std::size_t body_limit() const;
  Progress read_body();
  Progress read_chunks();
  Progress finish(std::size_t request_bytes);
  Progress refuse_long_body();
  Progress refuse(int status, std::string_view code, std::string_view message);

  const ReaderLimits limits_;
  std::string buffer_;
  std::size_t begin_ = 0;    // of the request that is being read
  std::size_t end_ = 0;      // of what was received
  std::size_t scanned_ = 0;  // up to here the header is clean, and has no end
  std::size_t header_bytes_ = 0;
  std::size_t request_bytes_ = 0;
  std::size_t content_length_ = 0;
  std::size_t path_at_ = 0;  // of the header's path, from begin_
  std::size_t path_bytes_ = 0;
  std::size_t chunk_at_ = 0;        // where chunks go on, from begin_
  bool header_came_first_ = false;  // the body came later, and the buffer may have moved
  bool asked_to_continue_ = false;
  bool expects_continue_ = false;
  Progress state_ = Progress::needs_header;
  Refusal refusal_;
  Request request_;
  std::optional<ChunkReader> chunk_reader_;  // for a body in chunks
  std::string chunks_;                       // what they contained
};

}  // namespace holdfast::net::http
