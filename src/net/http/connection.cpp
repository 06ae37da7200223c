// SPDX-License-Identifier: Apache-2.0
#include "net/http/connection.hpp"

#include "net/http/response_writer.hpp"
#include "net/http/stream.hpp"
#include "net/http/worker.hpp"

#include <boost/asio/post.hpp>

#include <utility>

namespace holdfast::net::http {

namespace {
constexpr std::size_t flush_bytes = 64 * 1024;
constexpr auto linger_time = std::chrono::seconds(1);
constexpr std::size_t max_linger_reads = 256;
constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";
constexpr RequestReader::Refusal too_slow{408, "request_timeout",
                                          "the request took too long to come"};
constexpr RequestReader::Refusal left{499, "cancelled",
                                      "the client ended before the answer; nothing is held for it"};
}  // namespace

Connection::Connection(Worker& worker, Channel::Socket socket, Channel::TlsContext tls, Peer peer)
    : worker_(worker),
      channel_(std::move(socket), std::move(tls)),
      peer_(std::move(peer)),
      reader_(worker.limits().reader) {
  worker_.joined(*this);
}

Connection::~Connection() { worker_.left(*this); }

void Connection::start() { serve(shared_from_this()); }

void Connection::expect_within(std::chrono::microseconds time) {
  deadline_ = runtime::LocalClock::now() + time;
}

// A slow client is measured from its first byte on, however it spreads the others.
void Connection::expect_more(RequestReader::Progress progress) {
  const auto& limits = worker_.limits();
  const bool in_body = progress == RequestReader::Progress::needs_body;
  const Phase phase = in_body ? Phase::body : reader_.is_empty() ? Phase::idle : Phase::header;
  if (phase == std::exchange(phase_, phase)) return;
  expect_within(in_body                ? limits.body_timeout
                : phase == Phase::idle ? limits.idle_timeout
                                       : limits.header_timeout);
}

void Connection::close() {
  reached_end_ = true;
  tell_that_it_left();
  if (stream_) stream_->end();
  channel_.close();
}

void Connection::tell_that_it_left() {
  if (stop_) stop_->request_stop();
  if (left_) left_->request_stop();
}

void Connection::expire() {
  timed_out_ = true;
  deadline_ = LocalTime::max();
  // In the middle of a request the client is told; a read that ends with an error gets us there.
  const bool can_tell = waits_for_read_ && phase_ != Phase::idle && !reached_end_;
  if (can_tell) return channel_.cancel();
  channel_.drop_unsent();
  close();
}

void Connection::drain() {
  is_draining_ = true;
  if (stop_) stop_->request_stop();
  if (phase_ == Phase::idle || stream_) close();
}

std::stop_token Connection::stop_token() {
  if (!stop_) {
    stop_.emplace();
    if (is_draining_ || reached_end_) stop_->request_stop();
  }
  return stop_->get_token();
}

std::stop_token Connection::left_token() {
  if (!left_) {
    left_.emplace();
    if (reached_end_) left_->request_stop();
  }
  return left_->get_token();
}

struct Connection::ShakeHands {
  Connection& connection;
  bool good = false;

  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> handle) {
    connection.channel_.shake_hands([this, handle](boost::system::error_code failed, std::size_t) {
      good = !failed;
      handle.resume();
    });
  }
  bool await_resume() const noexcept { return good; }
};

void Connection::note_read(boost::system::error_code failed, std::size_t bytes) {
  is_reading_ = false;
  reader_.received(bytes);
  if (failed || bytes == 0) reached_end_ = true;
  if (waits_for_read_) return std::exchange(waits_for_read_, {}).resume();
  // Nobody waits for what came: a request is being handled. A client that left is told so to
  // whoever handles it.
  if (!reached_end_) return watch_for_the_end();
  tell_that_it_left();
  if (stream_) stream_->end();
}

void Connection::start_reading() {
  if (is_reading_ || reached_end_) return;
  is_reading_ = true;
  channel_.read_some(reader_.space(), [self = shared_from_this()](auto failed, std::size_t bytes) {
    self->note_read(failed, bytes);
  });
}

// While a request is handled. What the client sends meanwhile is kept, up to a point: one that
// sends more is not looked after any further.
void Connection::watch_for_the_end() {
  if (reader_.buffered() <= worker_.limits().reader.max_header_bytes) start_reading();
}

// True if more has come.
struct Connection::ReadMore {
  Connection& connection;

  bool await_ready() const noexcept { return connection.reached_end_; }
  void await_suspend(std::coroutine_handle<> handle) {
    connection.waits_for_read_ = handle;
    connection.start_reading();
  }
  bool await_resume() const noexcept { return !connection.reached_end_; }
};

// True if all of `out_` is on its way.
struct Connection::WriteAll {
  Connection& connection;
  bool good = true;

  bool await_ready() {
    auto& out = connection.out_;
    out.erase(0, connection.channel_.write_now(out));
    return out.empty();
  }
  void await_suspend(std::coroutine_handle<> handle) {
    connection.phase_ = Phase::ours;
    connection.expect_within(connection.worker_.limits().idle_timeout);
    connection.channel_.write(connection.out_,
                              [this, handle](boost::system::error_code failed, std::size_t) {
                                good = !failed;
                                connection.deadline_ = LocalTime::max();
                                connection.out_.clear();
                                handle.resume();
                              });
  }
  bool await_resume() const noexcept { return good; }
};

// Starts a handler and comes back to the connection's thread when it is done.
struct Connection::Handled {
  enum State : std::uint8_t { starting, suspended, done };

  Connection& connection;
  Task<Response> task;
  std::optional<Response> response;
  std::atomic<State> state{starting};

  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> handle) {
    runtime::spawn(std::move(task),
                   [this, handle, executor = connection.channel_.executor()](Response&& answer) {
                     response.emplace(std::move(answer));
                     if (state.exchange(done) != suspended) return;
                     boost::asio::post(executor, [handle] { handle.resume(); });
                   });
    return state.exchange(suspended) != done;
  }
  Response await_resume() { return std::move(*response); }
};

void Connection::append(Response& response, bool keep_alive, bool with_body) {
  write_head(response, Framing::length, keep_alive, out_);
  if (with_body) out_.append(response.body);
}

// Never at once, even if there is something to take.
struct Connection::StreamTurn {
  Stream& stream;
  bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> handle) { stream.wait(handle); }
  void await_resume() const noexcept {}
};

Task<bool> Connection::shake_hands() {
  expect_within(worker_.limits().header_timeout);
  ShakeHands hands{*this};
  if (!co_await hands) co_return false;
  peer_.is_encrypted = true;
  peer_.certificate = channel_.certificate();
  co_return true;
}

// An answer without an end: until the writer or the client has enough.
Task<bool> Connection::send_stream(Response response, bool can_chunk) {
  write_head(response, can_chunk ? Framing::chunked : Framing::until_close, false, out_);
  stream_ =
      std::make_shared<Stream>(channel_.executor(), can_chunk, worker_.limits().max_output_bytes);
  response.stream(stream_);
  watch_for_the_end();
  while (!reached_end_) {
    WriteAll writing{*this};
    if (!co_await writing || !stream_->is_open()) break;
    StreamTurn turn{*stream_};
    co_await turn;
    stream_->take(out_);
  }
  stream_->end();
  co_return true;
}

// A body that comes from elsewhere: no more of it is asked for than the client has taken.
Task<bool> Connection::send_rest(Response response, bool keep_alive) {
  write_head(response, Framing::length, keep_alive, out_);
  out_.append(response.body);
  auto piece = BodySource::Piece::more;
  while (true) {
    WriteAll writing{*this};
    if (!co_await writing) co_return false;
    if (piece == BodySource::Piece::last) co_return true;
    auto coming = response.rest->next(&out_);
    piece = co_await std::move(coming);
    if (piece == BodySource::Piece::broken) co_return false;
  }
}

// Closing on a client that is still sending would destroy the answer on its way to it.
Task<bool> Connection::linger() {
  channel_.end_writing();
  reached_end_ = false;
  phase_ = Phase::idle;
  expect_within(linger_time);
  for (std::size_t rounds = 0; rounds < max_linger_reads; ++rounds) {
    reader_.discard();
    ReadMore reading{*this};
    if (!co_await reading) break;
  }
  co_return true;
}

// Without a coroutine for every step: each would cost an allocation per request.
runtime::Detached Connection::serve([[maybe_unused]] std::shared_ptr<Connection> self) {
  const auto& limits = worker_.limits();
  if (channel_.is_encrypted()) {
    auto shaking = shake_hands();
    if (!co_await std::move(shaking)) co_return close();
  }
  std::size_t unwritten = 0;
  bool keep_alive = true;
  bool must_linger = false;
  while (keep_alive) {
    const auto progress = reader_.advance();
    const bool needs_more = progress == RequestReader::Progress::needs_header ||
                            progress == RequestReader::Progress::needs_body;
    if (needs_more) {
      if (reader_.wants_continue()) out_.append(go_on);
      if (!out_.empty()) {
        WriteAll writing{*this};
        if (!co_await writing) break;
        unwritten = 0;
      }
      expect_more(progress);
      if (phase_ == Phase::idle && is_draining_) break;
      ReadMore reading{*this};
      if (co_await reading) continue;
      if (!timed_out_ || phase_ == Phase::idle) break;
    }
    if (needs_more || progress == RequestReader::Progress::refused) {
      auto why = needs_more ? too_slow : reader_.refusal();
      why.path = reader_.path();
      Response answer = worker_.service().refuse(why, peer_);
      append(answer, false, true);
      must_linger = true;
      break;
    }
    phase_ = Phase::ours;
    deadline_ = LocalTime::max();
    Request& request = reader_.request();
    request.peer = &peer_;
    request.owner = this;
    request.make_stop = [](void* owner) { return static_cast<Connection*>(owner)->stop_token(); };
    request.make_left = [](void* owner) { return static_cast<Connection*>(owner)->left_token(); };
    keep_alive = request.keep_alive;
    const bool with_body = request.method != Method::head;
    const bool can_chunk = request.version >= 11;
    Task<Response> task = worker_.service().handle(request);
    const bool is_ready = task.is_ready();
    Response response = is_ready ? task.take_ready() : Response{};
    reader_.next();
    if (!is_ready) {
      if (!out_.empty()) {
        WriteAll writing{*this};
        co_await writing;
        unwritten = 0;
      }
      // A read that began during the request before goes into the reader's memory.
      if (!is_reading_) reader_.shrink();
      watch_for_the_end();
      Handled handled{*this, std::move(task)};
      response = co_await handled;
    }
    stop_.reset();
    left_.reset();
    if (reached_end_ && !is_ready) {
      // Whoever has only ended its own sending can still read; it cannot be told from one that
      // left, so what would be left behind is given back first.
      if (response.undelivered) {
        std::exchange(response.undelivered, {})();
        response = worker_.service().refuse(left, peer_);
      }
      keep_alive = false;
    }
    keep_alive = keep_alive && !response.close && !is_draining_;
    if (response.stream && !with_body) {
      write_head(response, Framing::until_close, false, out_);
      break;
    }
    if (response.stream) {
      auto sending = send_stream(std::move(response), can_chunk);
      co_await std::move(sending);
      break;
    }
    if (response.rest) {
      auto sending = send_rest(std::move(response), keep_alive);
      // What is cut short must not look whole.
      if (!co_await std::move(sending)) co_return close();
      unwritten = 0;
      continue;
    }
    append(response, keep_alive, with_body);
    if (response.undelivered) {
      WriteAll writing{*this};
      if (!co_await writing) {
        response.undelivered();
        break;
      }
      unwritten = 0;
      continue;
    }
    if (++unwritten >= limits.max_pipelined || out_.size() > flush_bytes) {
      WriteAll writing{*this};
      if (!co_await writing) break;
      unwritten = 0;
    }
  }
  if (!out_.empty() && channel_.is_open()) {
    WriteAll writing{*this};
    co_await writing;
  }
  must_linger = must_linger || !reader_.is_empty();
  if (must_linger && channel_.is_open()) {
    auto lingering = linger();
    co_await std::move(lingering);
  }
  close();
}

}  // namespace holdfast::net::http
