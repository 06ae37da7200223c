// SPDX-License-Identifier: Apache-2.0
//
// A reverse proxy in front of a real server: TCP on a free loopback port, one request at a time on
// each connection. What it does to requests can be switched at any time, from any thread. Unlike a
// line (fault_proxy.hpp) it answers for the server, and what it has taken it passes on, whether or
// not the client is still there.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <list>
#include <mutex>
#include <string>
#include <thread>

namespace holdfast::test {

class HttpProxy {
 public:
  using Delay = std::chrono::milliseconds;
  enum class Fault : std::uint8_t {
    answer_503,    // passed on; the client gets a 503 of the proxy's own instead of the answer
    drop_answer,   // passed on; the answer is never sent, and the connection stays
    break_after,   // passed on; the connection ends instead of the answer
    break_before,  // not passed on; the connection ends
    hold,          // passed on, and answered, after `let_go`
  };

  explicit HttpProxy(std::uint16_t target_port);
  HttpProxy(const HttpProxy&) = delete;
  HttpProxy& operator=(const HttpProxy&) = delete;
  ~HttpProxy();

  std::uint16_t port() const { return port_; }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

  void delay_requests(Delay delay);
  void delay_replies(Delay delay);
  // The next `count` requests that contain the text meet the fault.
  void spoil(Fault fault, std::string text, unsigned count = 1);
  void let_go();    // all that are held, and all that would be
  void cut();       // every connection ends
  void all_well();  // every fault is off; those that are held go on

  struct Counts {
    std::uint64_t connections = 0;
    std::uint64_t requests = 0;          // taken
    std::uint64_t spoiled = 0;           // of them
    std::uint64_t passed_on = 0;         // given to the server
    std::uint64_t spoiled_answered = 0;  // by the server, although they were spoiled
  };
  Counts counts() const;

 private:
  struct Rule {
    Fault fault;
    std::string text;
    unsigned count = 0;
  };
  struct Line {
    int client = -1;
    int server = -1;
    std::thread thread;
    bool has_ended = false;  // guarded by mutex_
  };

  void accept_all();
  void serve(Line& line);
  bool exchange(Line& line, std::string& from_client, std::string& from_server);
  bool pass_stream(const Line& line);
  bool rest(Delay delay);  // false if the proxy ends meanwhile
  bool wait_for_go();
  const Fault* next_fault(const std::string& request, Fault& found);

  const std::uint16_t target_;
  std::uint16_t port_ = 0;
  int listener_ = -1;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Delay request_delay_{};  // guarded by mutex_, as all below
  Delay reply_delay_{};
  std::deque<Rule> rules_;
  std::uint64_t let_go_ = 0;
  Counts counts_;
  bool must_end_ = false;
  std::list<Line> lines_;
  std::thread acceptor_;
};

}  // namespace holdfast::test
