// SPDX-License-Identifier: Apache-2.0
//
// Which command belongs to which reply. No sockets and no threads: the connection locks around it.
#pragma once

#include <holdfast/error.hpp>

#include "net/resp/reply.hpp"
#include "runtime/runtime.hpp"

#include <coroutine>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::net::resp {

// One command of a caller who waits for the answer. It lives in the caller's coroutine.
struct Call {
  std::string bytes;
  unsigned replies = 1;
  bool only_if_prepared = false;  // see Asking
  std::uint64_t ticket = 0;       // its place among all calls of the connection
  runtime::LocalTime deadline{};
  runtime::TimerId timer{};  // for the deadline, if it needs one
  std::coroutine_handle<> waiter;
  Result<Reply> answer{};
};

// Calls wait, leave in batches, and meet their replies in the order in which they left. A call
// that is given up after it left keeps its place there, so that replies never shift.
class Pipeline {
 public:
  // Bytes of some calls on their way into the socket.
  struct Batch {
    std::string bytes;
    std::size_t gone = 0;
    std::uint64_t line = 0;  // which connection they are meant for
    std::string_view rest() const { return std::string_view(bytes).substr(gone); }
  };
  struct GivenUp {
    Call* call = nullptr;
    bool may_have_happened = false;
  };
  struct Match {
    bool is_expected = false;
    Call* call = nullptr;  // null: somebody who gave up, or more replies are to come
  };

  // Behind all others; gives it its ticket.
  void add(Call& call);
  std::size_t size() const { return waiting_.size() + in_flight_.size(); }
  bool is_idle() const { return waiting_.empty() && in_flight_.empty(); }

  // All that wait, unless a batch is still being written. Until `wrote`, `park` or `finish` every
  // byte of it counts as sent.
  std::optional<Batch> take(runtime::LocalTime now);
  // False when the line was lost meanwhile: the batch is no longer of interest.
  [[nodiscard]] bool wrote(Batch& batch, std::size_t bytes);
  void finish(Batch batch);
  // The socket takes no more now. Nobody else writes until the batch is taken up again.
  void park(Batch batch);
  std::optional<Batch> take_up();
  bool is_writing() const { return is_writing_; }

  Match match();
  GivenUp give_up(std::uint64_t ticket);
  // The calls without a timer whose deadline has passed, and the next one of the others.
  struct Overdue {
    std::vector<std::uint64_t> tickets;
    runtime::LocalTime next = runtime::LocalTime::max();
  };
  Overdue overdue(runtime::LocalTime now) const;
  // When the oldest call without a reply left.
  std::optional<runtime::LocalTime> oldest() const;

  // The line is gone. Gives the calls that may have happened; the others wait again, in order.
  std::vector<Call*> lose_line();
  // Those who wait and need a prepared line, which none of the waiting does after it.
  std::vector<Call*> turn_away();
  // Those who still wait, which is nobody after it.
  std::vector<Call*> drain();
  const std::deque<Call*>& waiting() const { return waiting_; }

 private:
  struct Place {
    Call* call = nullptr;  // null: given up
    std::uint64_t ticket = 0;
    std::uint64_t begin = 0;  // position of its first byte on the line
    runtime::LocalTime since{};
    unsigned replies = 1;
  };

  std::deque<Call*> waiting_;    // by ticket
  std::deque<Place> in_flight_;  // by ticket
  std::uint64_t last_ticket_ = 0;
  std::uint64_t line_ = 1;
  std::uint64_t taken_ = 0;       // bytes of this line that were given out in batches
  std::uint64_t may_be_out_ = 0;  // bytes of this line that the peer may have seen
  bool is_writing_ = false;
  std::optional<Batch> parked_;
  std::string spare_;  // keeps its room between batches
};

}  // namespace holdfast::net::resp
