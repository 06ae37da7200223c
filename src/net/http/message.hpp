// SPDX-License-Identifier: Apache-2.0
//
// An HTTP request as a server sees it, and the answer to it.
#pragma once

#include <holdfast/task.hpp>

#include <boost/container/small_vector.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::net::http {

enum class Method : std::uint8_t { get, head, post, put, del, options, other };

std::string_view to_string(Method method) noexcept;

struct Header {
  std::string_view name;
  std::string_view value;
};

// One line, whatever the value came from: line ends in it become spaces.
void append_header(std::string_view name, std::string_view value, std::string& out);

// Who is at the other end of a connection.
struct Peer {
  std::string address;  // "127.0.0.1", "::1", "unix"
  bool is_loopback = false;
  bool is_encrypted = false;
  std::string certificate;  // the common name of a client certificate that was verified
};

// Views into the connection's buffer: they hold until the handler suspends for the first time.
class Request {
 public:
  Method method = Method::other;
  std::string_view method_text;
  std::string_view path;   // still percent-encoded
  std::string_view query;  // without the question mark, still percent-encoded
  std::string_view host;   // of an absolute target, else of the Host header
  std::string_view body;
  boost::container::small_vector<Header, 16> headers;
  int version = 11;
  bool keep_alive = true;
  bool has_body = false;  // a length was announced, even if it was zero bytes of chunks
  const Peer* peer = nullptr;

  // The first header of this name, in any case; empty if there is none.
  std::string_view header(std::string_view name) const noexcept;
  bool has_header(std::string_view name) const noexcept;

  // Fires when the client goes away or the server wants to end. Made when first asked for.
  std::stop_token stop() const { return make_stop ? make_stop(owner) : std::stop_token{}; }
  std::stop_token (*make_stop)(void* owner) = nullptr;
  // Fires when the client goes away, or can be waited for no longer; not when the server merely
  // wants to end. For work that is better finished than broken off.
  std::stop_token left() const { return make_left ? make_left(owner) : std::stop_token{}; }
  std::stop_token (*make_left)(void* owner) = nullptr;
  void* owner = nullptr;
};

// Where the body of a streaming answer goes. From any thread.
class BodyStream {
 public:
  virtual ~BodyStream() = default;
  // False once the client is gone, or too slow to be worth waiting for.
  virtual bool write(std::shared_ptr<const std::string> bytes) = 0;
  virtual void close() = 0;
  // Called once, on the connection's thread, when nothing more can be written; at once if that is
  // so already.
  virtual void on_closed(std::move_only_function<void()> callback) = 0;
};

// The rest of a body, asked for piece by piece, as fast as the client takes it. On the connection's
// thread.
class BodySource {
 public:
  enum class Piece : std::uint8_t { more, last, broken };

  virtual ~BodySource() = default;
  // Puts the next bytes, framed as the head says, behind `out`, which outlives the task.
  virtual Task<Piece> next(std::string* out) = 0;
};

struct Response {
  int status = 200;
  std::string_view content_type = "application/json";  // a literal
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
  bool close = false;       // the connection, afterwards
  bool cacheable = false;   // else nobody on the way may keep it
  std::uint64_t id = 0;     // X-Request-Id, unless zero
  bool has_waited = false;  // it took long because the caller wanted to wait
  // The head as somebody else made it, each line with its end, in place of all of the above but
  // `close`: without Connection, and without the blank line.
  std::string head{};
  // Sent behind `body`. Where it breaks off, so does the connection.
  std::unique_ptr<BodySource> rest{};
  // A body without an end: called with the stream once the head is on its way.
  std::move_only_function<void(std::shared_ptr<BodyStream>)> stream;
  // Called if the client is known to be gone before the answer could be handed to the system.
  std::move_only_function<void()> undelivered;
};

}  // namespace holdfast::net::http
