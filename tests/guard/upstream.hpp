// SPDX-License-Identifier: Apache-2.0
//
// A service that knows nothing of fences: one thread for each connection, and what it answers is
// for the test to say, byte by byte.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace holdfast::test {

// A request as it arrived.
struct Seen {
  std::string line;  // "GET / HTTP/1.1"
  std::string head;  // with the line
  std::string body;
  int connection = 0;  // the first is 1

  // The value of the only field of this name; "(none)", or "(several)".
  std::string header(std::string_view name) const;
};

class Upstream {
 public:
  // The service's end of one connection.
  class Talk {
   public:
    explicit Talk(int fd) : fd_(fd) {}
    bool send(std::string_view bytes) const;
    // The connection ends after this answer.
    void close() { is_closing_ = true; }
    // It ends now, in this direction alone.
    void end_sending() const;
    bool is_closing() const { return is_closing_; }
    // True once the other side is gone, false after the patience.
    bool is_left(std::chrono::milliseconds patience) const;

   private:
    int fd_;
    bool is_closing_ = false;
  };
  using Handler = std::function<void(const Seen&, Talk&)>;

  explicit Upstream(Handler handler = answer_ok);
  Upstream(const Upstream&) = delete;
  Upstream& operator=(const Upstream&) = delete;
  ~Upstream();

  static void answer_ok(const Seen& seen, Talk& talk);

  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  std::string url() const { return "http://" + address(); }
  std::vector<Seen> seen() const;
  std::size_t count() const { return seen().size(); }

 private:
  void serve(int fd, int number);

  const Handler handler_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<bool> is_ending_ = false;
  mutable std::mutex mutex_;
  std::vector<Seen> seen_;           // guarded by mutex_
  std::vector<std::jthread> talks_;  // of the acceptor's thread
  std::jthread acceptor_;
};

}  // namespace holdfast::test
