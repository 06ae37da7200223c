// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/http/channel.hpp"
#include "net/http/message.hpp"

#include <coroutine>
#include <mutex>

namespace holdfast::net::http {

// Written at once: the other connections of the thread have their turn between two pieces.
inline constexpr std::size_t max_piece_bytes = std::size_t{16} * 1024;

// The body of an answer without an end. Anybody writes; the connection takes what has gathered
// whenever the client has read what came before.
class Stream final : public BodyStream, public std::enable_shared_from_this<Stream> {
 public:
  Stream(Channel::Executor executor, bool chunked, std::size_t max_bytes)
      : executor_(executor), chunked_(chunked), max_bytes_(max_bytes) {}

  bool write(std::shared_ptr<const std::string> bytes) override;
  void close() override;
  void on_closed(std::move_only_function<void()> callback) override;

  // For the connection, on its own thread.
  bool is_open();
  void wait(std::coroutine_handle<> handle);
  void take(std::string& out);  // the next piece
  void end();

 private:
  void wake();

  const Channel::Executor executor_;
  const bool chunked_;
  const std::size_t max_bytes_;

  std::mutex mutex_;
  // All below is guarded by mutex_.
  std::string gathered_;
  bool is_closing_ = false;  // by the writer: what has gathered is still sent
  bool is_ended_ = false;
  bool is_waking_ = false;
  std::coroutine_handle<> waiting_;
  std::move_only_function<void()> on_closed_;
};

}  // namespace holdfast::net::http
