// SPDX-License-Identifier: Apache-2.0
//
// What a program is told and what it says, both at the same time, so that neither side waits for
// the other with a full pipe.
#pragma once

#include "server/forrst/child_process.hpp"
#include "server/options.hpp"

#include <chrono>
#include <stop_token>
#include <string>
#include <string_view>

namespace holdfast::server {

class Conversation {
 public:
  using Clock = std::chrono::steady_clock;
  enum class End : std::uint8_t { by_itself, too_long, out_of_time, stopped };

  Conversation(ChildProcess& child, std::string input) : child_(child), input_(std::move(input)) {}
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;

  // Until the program has ended, by itself or because it was made to: at the deadline, when `stop`
  // fires, or when it writes more than max_command_output_bytes. To be reaped afterwards.
  void run(Clock::time_point deadline, const std::stop_token& stop);

  End end() const { return end_; }
  const std::string& output() const { return output_; }
  // The last of its standard error.
  const std::string& complaint() const { return complaint_; }

 private:
  void look(Clock::time_point now, Clock::time_point deadline, const std::stop_token& stop);
  void wait(Clock::time_point until, int alarm);
  void exchange();
  void write_input();
  void read_output();
  void read_complaint();
  void make_end(End why, Clock::time_point now);

  ChildProcess& child_;
  const std::string input_;
  std::size_t written_ = 0;
  std::string output_;
  std::string complaint_;
  End end_ = End::by_itself;
  Clock::time_point kill_at_ = Clock::time_point::max();
  bool is_ending_ = false;  // it was told to
};

}  // namespace holdfast::server
