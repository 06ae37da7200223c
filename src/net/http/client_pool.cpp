// SPDX-License-Identifier: Apache-2.0
#include "net/http/client_pool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace holdfast::net::http {

namespace {

// Silence is counted in ticks that this process lived through: one that was stopped for a while
// reads what came meanwhile before it judges.
constexpr unsigned ticks_of_silence = 4;

}  // namespace

ClientPool::ClientPool(std::shared_ptr<runtime::Runtime> runtime, Origin origin,
                       std::function<void()> broken)
    : runtime_(std::move(runtime)), origin_(std::move(origin)), broken_(std::move(broken)) {}

void ClientPool::begin(ExchangePtr exchange) {
  if (exchange->is_over) return;
  if (is_closed_) {
    finish(exchange, std::unexpected(failure(*exchange, Errc::unavailable, "closed")));
  } else if (!waiting_.empty() || !place(exchange)) {
    waiting_.push_back(std::move(exchange));
  }
}

// False if there is no room for it now.
bool ClientPool::place(const ExchangePtr& exchange) {
  if (exchange->needs_a_fresh && connections_.size() >= origin_.max_connections && !idle_.empty()) {
    const auto oldest = idle_.front();
    oldest->close();
    remove(oldest);
  }
  if (!exchange->needs_a_fresh && !idle_.empty()) {
    const auto connection = idle_.back();
    idle_.pop_back();
    send_on(connection, exchange);
    return true;
  }
  if (connections_.size() >= origin_.max_connections) return false;
  connect_for(exchange);
  return true;
}

void ClientPool::connect_for(ExchangePtr exchange) {
  const auto connection = std::make_shared<ClientConnection>(runtime_, origin_);
  connections_.push_back(connection);
  connection->open([weak = weak_from_this(), connection = connection.get(),
                    exchange = std::move(exchange)](Result<void> opened) {
    const auto pool = weak.lock();
    if (!pool) return;
    const auto self = connection->shared_from_this();
    if (!opened) {
      pool->remove(self);
      pool->broke();
      pool->finish(exchange, std::unexpected(pool->failure(*exchange, Errc::unavailable,
                                                           opened.error().message)));
      return pool->serve_waiting();
    }
    self->on_dropped([weak, connection] {
      const auto still_there = weak.lock();
      if (still_there) still_there->remove(connection->shared_from_this());
    });
    // Whoever it was made for may have given up meanwhile.
    if (exchange->is_over) return pool->put_back(self);
    pool->send_on(self, exchange);
  });
}

void ClientPool::send_on(const ConnectionPtr& connection, const ExchangePtr& exchange) {
  exchange->connection = connection;
  exchange->sent_at = runtime_->now();
  under_way_[connection] = exchange;
  watch();
  ResponseReader::Options options;
  options.max_body_bytes = origin_.max_body_bytes;
  options.is_answer_to_head = exchange->is_head;
  connection->send(exchange->bytes, std::move(options),
                   [weak = weak_from_this(), connection = connection.get(),
                    exchange](ClientConnection::End end) {
                     const auto pool = weak.lock();
                     if (pool)
                       pool->ended(connection->shared_from_this(), exchange, std::move(end));
                   });
}

void ClientPool::ended(const ConnectionPtr& connection, const ExchangePtr& exchange,
                       ClientConnection::End end) {
  exchange->connection.reset();
  under_way_.erase(connection);
  const bool was_kept = connection->was_used() && !end.response;
  if (connection->is_usable()) {
    put_back(connection);
  } else {
    remove(connection);
  }
  if (end.response) {
    const auto now = runtime_->now();
    answer_time_.note(now, std::chrono::floor<AnswerTime::Micros>(now - exchange->sent_at));
    // Of two copies one may still be on its way.
    settle(*exchange, !exchange->needs_a_fresh);
    finish(exchange, std::move(*end.response));
  } else {
    exchange->was_sent = exchange->was_sent || end.was_sent;
    // The server closed what it took for idle, just when we wanted to use it.
    const bool may_retry = !end.was_sent || exchange->repeatable;
    const bool retries = was_kept && end.was_silent && may_retry && !exchange->needs_a_fresh &&
                         !exchange->is_over && !is_closed_;
    if (retries) {
      exchange->needs_a_fresh = true;
      waiting_.push_front(exchange);
    } else {
      if (end.is_broken) broke();
      settle(*exchange, false);
      finish(exchange, std::unexpected(failure(*exchange, Errc::unavailable, end.failure)));
    }
  }
  serve_waiting();
}

void ClientPool::put_back(const ConnectionPtr& connection) {
  idle_.push_back(connection);
  serve_waiting();
}

void ClientPool::remove(const ConnectionPtr& connection) {
  std::erase(idle_, connection);
  std::erase(connections_, connection);
}

void ClientPool::serve_waiting() {
  if (is_closed_) return;
  while (!waiting_.empty()) {
    const auto next = waiting_.front();
    // What cannot be answered in time is left to its deadline, and was surely not sent.
    if (!next->is_over && may_make_it(*next) && !place(next)) return;
    // Placing it may have ended others.
    std::erase(waiting_, next);
  }
}

Error ClientPool::failure(const Exchange& exchange, Errc unsent, std::string_view why) const {
  const auto code = exchange.was_sent ? Errc::outcome_unknown : unsent;
  return {code, fmt::format("{}: {}", origin_.describe(), why)};
}

bool ClientPool::may_make_it(const Exchange& exchange) const {
  const auto now = runtime_->now();
  return exchange.deadline - now > answer_time_.shortest(now);
}

void ClientPool::settle(Exchange& exchange, bool was_answered) {
  auto settled = std::exchange(exchange.settled, nullptr);
  if (!settled) return;
  const bool is_sure = was_answered || !exchange.was_sent;
  runtime_->post([settled = std::move(settled), is_sure] { settled(is_sure); });
}

void ClientPool::broke() const {
  if (broken_ && !is_closed_) broken_();
}

void ClientPool::watch() {
  if (is_watching_ || origin_.longest_silence <= std::chrono::microseconds::zero()) return;
  is_watching_ = true;
  const auto one_tick = origin_.longest_silence / ticks_of_silence;
  runtime_->schedule(runtime_->now() + one_tick, [weak = weak_from_this()] {
    if (const auto pool = weak.lock()) pool->tick();
  });
}

void ClientPool::tick() {
  is_watching_ = false;
  // Closing one changes the list.
  for (const auto& [connection, _] : std::map(under_way_)) {
    // However patient its caller is: others wait for the place.
    if (connection->count_silent_tick() > ticks_of_silence) connection->close("it fell silent");
  }
  if (!under_way_.empty()) watch();
}

void ClientPool::finish(const ExchangePtr& exchange, Result<ClientResponse> result) {
  if (std::exchange(exchange->is_over, true)) return;
  // Before the caller hears of the end.
  if (!exchange->connection) settle(*exchange, false);
  exchange->result = std::move(result);
  // Resumes the caller, who may do anything, also let the client go.
  runtime_->post([exchange] { exchange->done.notify(); });
}

void ClientPool::give_up(const ExchangePtr& exchange, Errc unsent, std::string_view why) {
  if (exchange->is_over) return;
  const auto connection = exchange->connection;
  // Under way, though perhaps not one byte has left: nobody can tell.
  if (connection) exchange->was_sent = true;
  finish(exchange, std::unexpected(failure(*exchange, unsent, why)));
  if (!connection) {
    std::erase(waiting_, exchange);
  } else if (origin_.longest_silence <= std::chrono::microseconds::zero()) {
    // Its answer may still come, and must not be taken for that of another request.
    connection->close("given up");
  }
}

void ClientPool::close() {
  is_closed_ = true;
  const auto all = std::exchange(connections_, {});
  idle_.clear();
  for (const auto& each : all) each->close("the client was closed");
  for (const auto& each : std::exchange(waiting_, {})) {
    finish(each, std::unexpected(failure(*each, Errc::unavailable, "the client was closed")));
  }
}

}  // namespace holdfast::net::http
