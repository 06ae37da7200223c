// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "guard/options.hpp"
#include "net/resp/link.hpp"
#include "runtime/clock.hpp"

#include <boost/intrusive/list_hook.hpp>

#include <coroutine>
#include <memory>
#include <string_view>
#include <vector>

namespace holdfast::guard {

using runtime::LocalTime;

class Pool;

// One connection to the upstream, for one exchange at a time. While it is idle a read stays
// outstanding, so that one that the upstream closes is not used again. On its worker's thread only.
class Wire : public std::enable_shared_from_this<Wire>, public boost::intrusive::list_base_hook<> {
 public:
  Wire(Pool& pool, boost::asio::io_context& context, const net::http::Origin& origin);
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;
  ~Wire();

  struct Open;       // co_await: whether it is connected
  struct Read;       // co_await: whether more has come
  struct WriteSome;  // co_await: how much was taken; 0 if it failed

  std::string_view unread() const { return {buffer_.data() + begin_, end_ - begin_}; }
  void consume(std::size_t bytes) { begin_ += bytes; }

  // What is taken without waiting; nothing if it failed.
  std::optional<std::size_t> write_now(std::string_view bytes);

  // Nothing more will come. It ended as it should, or it broke.
  bool has_ended() const { return has_ended_; }
  bool ended_well() const { return ended_well_; }
  bool timed_out() const { return timed_out_; }
  const std::string& failure() const { return failure_; }

  // When somebody has been too slow.
  LocalTime deadline = LocalTime::max();
  void expire();
  void rest();  // until the next exchange: watches for the end
  bool is_resting = false;
  // What has not reached the upstream's machine until now it never gets.
  void close();
  void forget_pool() { pool_ = nullptr; }

 private:
  void start_reading();
  void note_read(boost::system::error_code failed, std::size_t bytes);
  std::span<char> space();

  Pool* pool_;
  const std::shared_ptr<net::resp::Link> link_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool is_reading_ = false;
  bool has_ended_ = false;
  bool ended_well_ = false;
  bool timed_out_ = false;
  std::string failure_;
  std::coroutine_handle<> waits_for_read_;
};

struct Wire::Open {
  std::shared_ptr<Wire> wire;
  bool good = false;

  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> handle);
  bool await_resume() const noexcept { return good; }
};

struct Wire::Read {
  Wire& wire;

  bool await_ready() const noexcept { return wire.has_ended_; }
  void await_suspend(std::coroutine_handle<> handle) {
    wire.waits_for_read_ = handle;
    wire.start_reading();
  }
  bool await_resume() const noexcept { return !wire.has_ended_; }
};

struct Wire::WriteSome {
  Wire& wire;
  std::string_view bytes;
  std::size_t taken = 0;

  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> handle);
  std::size_t await_resume() const noexcept { return taken; }
};

}  // namespace holdfast::guard
