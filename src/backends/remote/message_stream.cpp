// SPDX-License-Identifier: Apache-2.0
#include "backends/remote/message_stream.hpp"

#include "backends/remote/json_reader.hpp"
#include "runtime/backoff.hpp"
#include "text/json_parse.hpp"

#include <fmt/format.h>

#include <utility>

namespace holdfast::backends::remote {

namespace {

constexpr runtime::Backoff between_attempts{.first = std::chrono::milliseconds(10),
                                            .cap = std::chrono::seconds(1)};
constexpr std::size_t max_line_bytes = 64 * 1024;

net::http::ClientRequest stream_request() {
  return {.target = "/v1/store/stream",
          .headers = {{std::string(protocol_header), std::string(protocol_version)}}};
}

// A stream that was not opened has changed nothing.
Error as_unavailable(Error error) {
  if (error.code == Errc::outcome_unknown) error.code = Errc::unavailable;
  return error;
}

}  // namespace

MessageStream::MessageStream(std::shared_ptr<runtime::Runtime> runtime,
                             std::shared_ptr<net::http::Client> client, Asked asked, Events events)
    : runtime_(std::move(runtime)),
      client_(std::move(client)),
      asked_(std::move(asked)),
      events_(std::move(events)),
      last_error_{Errc::unavailable, asked_.peer + ": its stream is not open yet"} {}

std::string MessageStream::name() const {
  const std::lock_guard lock(mutex_);
  return name_;
}

MessageStream::EventPtr MessageStream::begin_to_wait() {
  const std::lock_guard lock(mutex_);
  if (state_ == State::unused) {
    state_ = State::opening;
    runtime_->post([self = shared_from_this()] { self->connect(); });
  }
  // While the server is not there callers learn it at once, and come again.
  if (state_ != State::opening) return nullptr;
  return waiting_.emplace_back(std::make_shared<runtime::Event>(runtime_));
}

Result<std::string> MessageStream::outcome() const {
  const std::lock_guard lock(mutex_);
  if (state_ == State::open) return name_;
  return std::unexpected(last_error_);
}

Task<Result<std::string>> MessageStream::ready(LocalTime deadline, std::stop_token stop) {
  const auto self = shared_from_this();
  if (const auto event = begin_to_wait()) {
    const std::stop_callback on_stop(
        stop, [runtime = runtime_, event] { runtime->post([event] { event->notify(); }); });
    co_await event->wait_until(deadline);
    const std::lock_guard lock(mutex_);
    std::erase(waiting_, event);
  }
  if (stop.stop_requested()) {
    co_return fail(Errc::cancelled, asked_.peer + ": cancelled before it was sent");
  }
  co_return outcome();
}

void MessageStream::connect() {
  const std::lock_guard lock(mutex_);
  if (state_ == State::closed) return;
  state_ = State::opening;
  const auto attempt = ++attempt_;
  heard_at_ = runtime_->now();
  unread_.clear();
  const auto weak = weak_from_this();
  net::http::StreamEvents events;
  events.bytes = [weak, attempt](std::string_view bytes) {
    if (const auto self = weak.lock()) self->heard(attempt, bytes);
  };
  events.closed = [weak, attempt](Error why, std::optional<net::http::ClientResponse> refusal) {
    const auto self = weak.lock();
    if (!self) return;
    if (!refusal) return self->broke(attempt, std::move(why));
    self->ended(attempt, as_unavailable(explain_refusal(*refusal, self->asked_)));
  };
  stream_ = client_->open_stream(stream_request(), std::move(events));
  watch(attempt);
}

// With the lock. A server that vanished without a word is noticed by its silence.
void MessageStream::watch(std::uint64_t attempt) {
  runtime_->schedule(heard_at_ + longest_silence, [weak = weak_from_this(), attempt] {
    const auto self = weak.lock();
    if (!self) return;
    {
      const std::lock_guard lock(self->mutex_);
      if (self->attempt_ != attempt || self->state_ == State::closed) return;
      const bool was_silent = self->runtime_->now() - self->heard_at_ >= longest_silence;
      if (!was_silent) return self->watch(attempt);
    }
    self->broke(attempt, {Errc::unavailable, self->asked_.peer + ": its stream fell silent"});
  });
}

void MessageStream::heard(std::uint64_t attempt, std::string_view bytes) {
  {
    const std::lock_guard lock(mutex_);
    if (attempt != attempt_) return;
    heard_at_ = runtime_->now();
  }
  unread_.append(bytes);
  std::size_t begin = 0;
  for (auto end = unread_.find('\n'); end != std::string::npos; end = unread_.find('\n', begin)) {
    const auto line = unread_.substr(begin, end - begin);
    begin = end + 1;
    take_line(attempt, line);
  }
  unread_.erase(0, std::min(begin, unread_.size()));
  if (unread_.size() <= max_line_bytes) return;
  broke(attempt, {Errc::unavailable, asked_.peer + ": its stream has a line without an end"});
}

void MessageStream::take_line(std::uint64_t attempt, std::string_view text) {
  const auto parsed = text::parse_json(text);
  if (!parsed || !parsed->is_object()) return;
  JsonReader reader(parsed->get_object());
  if (auto name = reader.text("stream"); !name.empty()) {
    return came_up(attempt, std::move(name), reader.text("server"));
  }
  if (const auto line = parse_line(parsed->get_object())) events_.told(*line);
}

void MessageStream::came_up(std::uint64_t attempt, std::string name, const std::string& server) {
  std::vector<EventPtr> waiting;
  bool again = false;
  {
    const std::lock_guard lock(mutex_);
    if (attempt != attempt_ || state_ != State::opening) return;
    again = std::exchange(was_open_, true);
    state_ = State::open;
    name_ = std::move(name);
    failures_ = 0;
    waiting = std::exchange(waiting_, {});
  }
  events_.opened(server, again);
  for (const auto& each : waiting) each->notify();
}

void MessageStream::broke(std::uint64_t attempt, Error why) {
  if (ended(attempt, std::move(why))) events_.broken();
}

bool MessageStream::ended(std::uint64_t attempt, Error why) {
  std::vector<EventPtr> waiting;
  {
    const std::lock_guard lock(mutex_);
    if (attempt != attempt_ || state_ == State::closed || state_ == State::pausing) return false;
    state_ = State::pausing;
    name_.clear();
    stream_.reset();
    last_error_ = std::move(why);
    waiting = std::exchange(waiting_, {});
    const auto delay = next_delay(between_attempts, failures_++, runtime_->random());
    runtime_->schedule(runtime_->now() + delay, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->connect();
    });
  }
  for (const auto& each : waiting) each->notify();
  return true;
}

void MessageStream::restart(const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (state_ != State::open || name_ != name) return;
  state_ = State::opening;
  name_.clear();
  // Whatever the old one still says is not listened to.
  ++attempt_;
  stream_.reset();
  runtime_->post([self = shared_from_this()] { self->connect(); });
}

void MessageStream::close() {
  const std::lock_guard lock(mutex_);
  state_ = State::closed;
  name_.clear();
  stream_.reset();
}

}  // namespace holdfast::backends::remote
