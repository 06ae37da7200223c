// SPDX-License-Identifier: Apache-2.0
//
// How a connection's commands get into its socket, and how a stalled one is noticed.
#include "net/resp/connection_shared.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

namespace holdfast::net::resp {

using namespace std::chrono_literals;

void Connection::Shared::flush(Lock& lock) {
  // Whoever writes, or will write soon, takes this along.
  if (pipeline_.is_writing() || flush_is_posted_) return;
  // On the runtime's thread more commands may follow in this turn, and one write can carry them.
  // TLS lives on that thread. Any other thread saves a hop by writing itself.
  if (runtime_->on_own_thread() || link_->is_encrypted())
    post_flush();
  else
    write_out(lock);
}

void Connection::Shared::post_flush() {
  flush_is_posted_ = true;
  runtime_->post([self = shared_from_this()] {
    Lock lock(self->mutex_);
    self->flush_is_posted_ = false;
    if (self->state_ == State::up) self->write_out(lock);
  });
}

void Connection::Shared::write_out(Lock& lock) {
  auto batch = take_batch();
  if (!batch) return;
  if (!link_->is_encrypted()) return pump(lock, std::move(batch));
  const auto link = link_;
  lock.unlock();
  write_encrypted(std::make_shared<Pipeline::Batch>(std::move(*batch)), link);
  lock.lock();
}

std::optional<Pipeline::Batch> Connection::Shared::take_batch() {
  if (!is_prepared_) turn_away();
  const auto now = runtime_->now();
  auto batch = pipeline_.take(now);
  if (batch && watch_ == runtime::TimerId::none) look_again(now + next_look());
  return batch;
}

// Calls that were made for a prepared connection, and meet another one.
void Connection::Shared::turn_away() {
  auto unfit = pipeline_.turn_away();
  if (unfit.empty()) return;
  runtime_->post([unfit = std::move(unfit)] {
    for (Call* call : unfit) {
      call->answer = Reply{};
      call->waiter.resume();
    }
  });
}

void Connection::Shared::pump(Lock& lock, std::optional<Pipeline::Batch> batch) {
  // A caller should not be kept writing other people's commands for ever.
  constexpr int most_rounds = 4;
  const auto link = link_;
  for (int round = 1; batch; ++round) {
    if (!write_whole(lock, link, *batch)) return;
    pipeline_.finish(std::move(*batch));
    if (round == most_rounds && !pipeline_.waiting().empty()) return post_flush();
    batch = take_batch();
  }
}

// False when the batch is out of this thread's hands, and so is writing.
bool Connection::Shared::write_whole(Lock& lock, const std::shared_ptr<Link>& link,
                                     Pipeline::Batch& batch) {
  while (!batch.rest().empty()) {
    lock.unlock();
    const ssize_t written = link->write_now(batch.rest());
    const int failure = written < 0 ? errno : 0;
    lock.lock();
    if (!pipeline_.wrote(batch, written < 0 ? 0 : static_cast<std::size_t>(written))) return false;
    if (failure == 0 || failure == EINTR) continue;
    pipeline_.park(std::move(batch));
    runtime_->post([self = shared_from_this(), link, failure] {
      if (failure == EAGAIN || failure == EWOULDBLOCK)
        self->wait_until_writable(link);
      else
        self->drop(link, std::strerror(failure));
    });
    return false;
  }
  return true;
}

void Connection::Shared::wait_until_writable(std::shared_ptr<Link> link) {
  link->when_writable([self = shared_from_this(), link](boost::system::error_code, std::size_t) {
    Lock lock(self->mutex_);
    if (self->link_ != link) return;
    self->pump(lock, self->pipeline_.take_up());
  });
}

void Connection::Shared::write_encrypted(std::shared_ptr<Pipeline::Batch> batch,
                                         std::shared_ptr<Link> link) {
  const auto rest = batch->rest();
  link->write(rest, [self = shared_from_this(), batch, link](boost::system::error_code failed,
                                                             std::size_t bytes) {
    Lock lock(self->mutex_);
    if (!self->pipeline_.wrote(*batch, bytes)) return;
    if (failed) {
      lock.unlock();
      return self->drop(link, failed.message());
    }
    if (!batch->rest().empty()) {
      lock.unlock();
      return self->write_encrypted(batch, link);
    }
    self->pipeline_.finish(std::move(*batch));
    self->write_out(lock);
  });
}

void Connection::Shared::drop(const std::shared_ptr<Link>& link, std::string_view reason) {
  Lock lock(mutex_);
  if (link_ != link) return;
  lock.unlock();
  session_->drop(session_->error(reason));
}

std::chrono::microseconds Connection::Shared::next_look() const {
  return std::min<std::chrono::microseconds>(endpoint_.command_timeout, between_looks);
}

void Connection::Shared::look_again(LocalTime when) {
  watch_ = runtime_->schedule(when, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->look();
  });
}

void Connection::Shared::look() {
  Lock lock(mutex_);
  watch_ = runtime::TimerId::none;
  const bool was_suspected = std::exchange(is_suspected_, false);
  if (state_ != State::up || pipeline_.is_idle()) return;
  const auto now = runtime_->now();
  const auto silent_since = std::max(heard_at_, pipeline_.oldest().value_or(now));
  const auto dead_at = silent_since + endpoint_.command_timeout;
  const auto late = pipeline_.overdue(now);
  if (!was_suspected && (now >= dead_at || !late.tickets.empty())) {
    // It may be this program that was stopped for a while, with the reply waiting in the socket.
    is_suspected_ = true;
    return look_again(now + 5ms);
  }
  if (now < dead_at) {
    look_again(std::min<LocalTime>({now + next_look(), dead_at, late.next}));
    lock.unlock();
    for (const auto ticket : late.tickets) give_up(ticket, Why::deadline);
    return;
  }
  const auto limit = std::chrono::ceil<std::chrono::milliseconds>(endpoint_.command_timeout);
  const auto link = link_;
  lock.unlock();
  drop(link, fmt::format("nothing was heard for {} ms", limit.count()));
}

}  // namespace holdfast::net::resp
