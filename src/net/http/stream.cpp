// SPDX-License-Identifier: Apache-2.0
#include "net/http/stream.hpp"

#include "net/http/response_writer.hpp"

#include <boost/asio/post.hpp>

#include <utility>

namespace holdfast::net::http {

bool Stream::write(std::shared_ptr<const std::string> bytes) {
  {
    const std::lock_guard lock(mutex_);
    if (is_ended_ || is_closing_) return false;
    if (gathered_.size() + bytes->size() > max_bytes_) {
      // Whoever reads too slowly is let go, and comes back for what it missed.
      is_closing_ = true;
    } else if (chunked_) {
      write_chunk(*bytes, gathered_);
    } else {
      gathered_.append(*bytes);
    }
  }
  wake();
  return true;
}

void Stream::close() {
  {
    const std::lock_guard lock(mutex_);
    if (is_ended_ || is_closing_) return;
    if (chunked_) gathered_.append(last_chunk);
    is_closing_ = true;
  }
  wake();
}

void Stream::on_closed(std::move_only_function<void()> callback) {
  {
    const std::lock_guard lock(mutex_);
    if (!is_ended_) {
      on_closed_ = std::move(callback);
      return;
    }
  }
  callback();
}

bool Stream::is_open() {
  const std::lock_guard lock(mutex_);
  return !is_ended_ && (!is_closing_ || !gathered_.empty());
}

void Stream::wait(std::coroutine_handle<> handle) {
  bool came_meanwhile = false;
  {
    const std::lock_guard lock(mutex_);
    waiting_ = handle;
    came_meanwhile = is_ended_ || is_closing_ || !gathered_.empty();
  }
  if (came_meanwhile) wake();
}

void Stream::take(std::string& out) {
  const std::lock_guard lock(mutex_);
  out.append(gathered_, 0, max_piece_bytes);
  gathered_.erase(0, max_piece_bytes);
}

void Stream::end() {
  std::move_only_function<void()> callback;
  {
    const std::lock_guard lock(mutex_);
    if (is_ended_) return;
    is_ended_ = true;
    callback = std::move(on_closed_);
    on_closed_ = nullptr;
  }
  if (callback) callback();
  wake();
}

void Stream::wake() {
  {
    const std::lock_guard lock(mutex_);
    if (!waiting_ || is_waking_) return;
    is_waking_ = true;
  }
  boost::asio::post(executor_, [self = shared_from_this()] {
    std::coroutine_handle<> handle;
    {
      const std::lock_guard lock(self->mutex_);
      self->is_waking_ = false;
      handle = std::exchange(self->waiting_, {});
    }
    if (handle) handle.resume();
  });
}

}  // namespace holdfast::net::http
