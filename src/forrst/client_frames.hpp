// SPDX-License-Identifier: Apache-2.0
//
// The client's end of a Unix socket that carries frames: four bytes of length, the highest first,
// and so many bytes of JSON.
#pragma once

#include <holdfast/error.hpp>

#include "runtime/clock.hpp"

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

namespace holdfast::forrst {

// A descriptor that becomes readable when the token fires. Without one that can fire it is none.
class StopSignal {
 public:
  explicit StopSignal(std::stop_token stop);
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;
  ~StopSignal();
  int fd() const { return fd_; }  // -1: none
  // There should be one, and the system has none left.
  bool is_deaf() const { return is_deaf_; }

 private:
  int fd_ = -1;
  bool is_deaf_ = false;
  std::optional<std::stop_callback<std::function<void()>>> on_stop_;
};

// Until when a call may take, and what ends it before that.
struct Patience {
  runtime::LocalTime deadline;
  int stop_fd = -1;
};

std::string frame_of(std::string_view json);

// One at a time uses it.
class FrameLink {
 public:
  // Errors: unavailable, cancelled.
  static Result<FrameLink> open(const std::string& path, const Patience& patience);
  FrameLink(FrameLink&& other) noexcept;
  FrameLink& operator=(FrameLink&& other) noexcept;
  ~FrameLink();

  // Sends a frame and waits for the one that answers it. Errors:
  //   unavailable      the server cannot have got the whole frame
  //   cancelled        the same, because of stop_fd
  //   outcome_unknown  it may have
  Result<std::string> exchange(std::string_view frame, const Patience& patience);
  // Nothing was said on it since the last answer, and the server has not closed it.
  bool is_quiet() const;
  // Whether the last exchange left it as it should be.
  bool is_usable() const { return is_usable_; }
  // Whether the last exchange failed because the server had closed it.
  bool was_closed_by_peer() const { return was_closed_by_peer_; }

 private:
  explicit FrameLink(int fd) : fd_(fd) {}

  void write_some(std::string_view& rest);
  std::optional<Error> read_some(bool is_all_written);
  Result<std::optional<std::string>> take_frame();

  int fd_ = -1;
  std::string in_;
  bool is_usable_ = true;
  bool is_writable_ = true;
  bool was_closed_by_peer_ = false;
};

}  // namespace holdfast::forrst
