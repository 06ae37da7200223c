// SPDX-License-Identifier: Apache-2.0
//
// A bad line in front of a real server: TCP on a free loopback port, with faults that can be
// switched at any time, from any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace holdfast::test {

class FaultProxy {
 public:
  using Delay = std::chrono::milliseconds;
  enum class Ending : std::uint8_t { close, reset };

  explicit FaultProxy(std::uint16_t target_port);
  FaultProxy(const FaultProxy&) = delete;
  FaultProxy& operator=(const FaultProxy&) = delete;
  ~FaultProxy();

  std::uint16_t port() const { return port_; }
  std::string url() const { return "redis://127.0.0.1:" + std::to_string(port_); }

  // New connections are led to these ports in turn, the first of them next, as by a balancer or a
  // name with several addresses. Those that are open stay where they are.
  void lead_to(std::vector<std::uint16_t> targets);
  void delay_requests(Delay delay);
  void delay_replies(Delay delay);
  // A connection that lost bytes never passes any again in that direction: TCP has no holes.
  void swallow_requests(bool on);
  void swallow_replies(bool on);
  void byte_by_byte(bool on);  // each byte of a reply in a packet of its own
  // Once: so many more bytes of replies pass, then the connection that got the last of them ends.
  void end_after(std::size_t reply_bytes, Ending how);
  // Once: half of what the server says next passes, then the connection ends.
  void halve_next_reply(Ending how);
  // Nothing is read or written any more, and connections are not accepted.
  void pause();
  void resume();
  void cut();            // all connections are reset
  void refuse(bool on);  // new connections are closed at once
  void all_well();       // every fault is off

  struct Counts {
    std::uint64_t connections = 0;
    std::uint64_t request_reads = 0;  // pieces in which requests arrived
    std::uint64_t request_bytes = 0;
    std::uint64_t reply_bytes = 0;
  };
  Counts counts() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Faults {
    Delay request_delay{}, reply_delay{};
    bool swallow_requests = false, swallow_replies = false;
    bool byte_by_byte = false, is_paused = false, refuse = false;
    std::optional<std::size_t> end_after;
    bool halve_next = false;
    Ending ending = Ending::close;
  };
  struct Piece {
    Clock::time_point due;
    std::string bytes;
  };
  struct Line {
    int client = -1;
    int server = -1;
    std::deque<Piece> requests, replies;
    bool lost_requests = false, lost_replies = false;
    bool has_ended = false;
  };

  template <typename Change>
  void change(Change change);
  void run();
  void wait_for_something(const Faults& faults);
  std::uint16_t next_target();
  void accept_one(const Faults& faults);
  void take_in(Line& line, const Faults& faults);
  void pass_on(Line& line, const Faults& faults);
  void pass_reply(Line& line, std::string bytes, const Faults& faults);
  void end(Line& line, Ending how);

  std::uint16_t port_ = 0;
  int listener_ = -1;
  int wake_ = -1;
  std::list<Line> lines_;  // of the proxy's thread

  mutable std::mutex mutex_;
  std::vector<std::uint16_t> targets_;  // guarded by mutex_
  std::size_t next_target_ = 0;         // guarded by mutex_
  Faults faults_;                       // guarded by mutex_
  Counts counts_;                       // guarded by mutex_
  bool must_cut_ = false;               // guarded by mutex_
  bool must_end_ = false;               // guarded by mutex_
  std::thread thread_;
};

}  // namespace holdfast::test
