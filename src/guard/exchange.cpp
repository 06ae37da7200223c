// SPDX-License-Identifier: Apache-2.0
#include "guard/exchange.hpp"

#include "guard/problem.hpp"
#include "net/http/response_writer.hpp"

#include <fmt/format.h>

#include <iterator>

namespace holdfast::guard {

namespace {

using net::http::BodySource;
using net::http::Response;
using Framing = AnswerReader::Framing;
using Progress = AnswerReader::Progress;

LocalTime soon(Duration time) { return runtime::LocalClock::now() + time; }

// What both halves of an exchange, the head and the rest of the body, have in their hands.
struct Crossing {
  std::shared_ptr<Pool> pool;
  Errand errand;
  std::shared_ptr<Wire> wire{};
  AnswerReader reader{errand.is_head, max_answer_head_bytes};
  bool is_over = false;

  Crossing(std::shared_ptr<Pool> on, Errand what) : pool(std::move(on)), errand(std::move(what)) {}
  Crossing(const Crossing&) = delete;
  Crossing& operator=(const Crossing&) = delete;
  ~Crossing() { end(false); }

  // The connection is closed before whoever waits may go: the upstream never gets this request
  // after the next.
  void end(bool is_whole) {
    if (std::exchange(is_over, true)) return;
    const bool is_reusable = is_whole && reader.keeps_alive() && wire->unread().empty() &&
                             !wire->has_ended() && !wire->timed_out();
    if (wire && is_reusable) {
      pool->give_back(std::move(wire));
    } else if (wire) {
      wire->close();
    }
    errand.place.leave();
  }

  void begin_waiting() {
    if (!errand.is_fenced) wire->deadline = soon(errand.timeout);
  }
};

Response unreachable(std::string_view why) {
  return problem({502, "upstream_unreachable",
                  fmt::format("the upstream could not be reached, and got nothing: {}", why)});
}

Response broken(const Wire& wire, std::string_view why) {
  if (wire.timed_out()) {
    return problem({504, "upstream_timeout",
                    "the upstream did not answer in time; it may have done what was asked"});
  }
  return problem(
      {502, "upstream_failed",
       fmt::format("the upstream gave no answer that can be passed on, and may have done "
                   "what was asked: {}",
                   why)});
}

void append_framed(std::string_view piece, bool in_chunks, std::string& out) {
  in_chunks ? net::http::write_chunk(piece, out) : static_cast<void>(out.append(piece));
}

// The rest of a body that did not come with its head.
class Rest final : public BodySource {
 public:
  Rest(std::unique_ptr<Crossing> crossing, bool in_chunks)
      : crossing_(std::move(crossing)), in_chunks_(in_chunks) {}

  Task<Piece> next(std::string* out) override {
    while (true) {
      crossing_->begin_waiting();
      Wire::Read reading{*crossing_->wire};
      co_await reading;
      const auto piece = take(*out);
      if (piece != Piece::more || !out->empty()) co_return piece;
    }
  }

 private:
  Piece take(std::string& out) {
    Wire& wire = *crossing_->wire;
    auto bytes = wire.unread();
    const auto before = bytes.size();
    body_.clear();
    auto progress = crossing_->reader.take_body(bytes, body_);
    wire.consume(before - bytes.size());
    append_framed(body_, in_chunks_, out);
    const bool is_cut = progress == Progress::needs_more && wire.has_ended();
    if (is_cut && wire.ended_well() && crossing_->reader.end()) progress = Progress::complete;
    if (progress == Progress::needs_more && !is_cut) return Piece::more;
    const bool is_whole = progress == Progress::complete;
    crossing_->end(is_whole);
    if (!is_whole) return Piece::broken;
    if (in_chunks_) out.append(net::http::last_chunk);
    return Piece::last;
  }

  const std::unique_ptr<Crossing> crossing_;
  const bool in_chunks_;
  std::string body_;
};

void append_length(std::uint64_t length, std::string& head) {
  fmt::format_to(std::back_inserter(head), "Content-Length: {}\r\n", length);
}

// The head is there, and perhaps all of the body.
Response pass_on(std::unique_ptr<Crossing> crossing) {
  AnswerReader& reader = crossing->reader;
  Wire& wire = *crossing->wire;
  Response response{.status = reader.status(), .head = reader.head()};
  auto bytes = wire.unread();
  const auto before = bytes.size();
  const auto progress = reader.take_body(bytes, response.body);
  wire.consume(before - bytes.size());
  if (progress == Progress::malformed) {
    crossing->end(false);
    return broken(wire, "its chunks are malformed");
  }
  if (progress == Progress::complete) {
    const bool is_told = reader.framing() != Framing::none;
    if (is_told) append_length(response.body.size(), response.head);
    if (!is_told && reader.told_length()) append_length(*reader.told_length(), response.head);
    crossing->end(true);
    return response;
  }
  const bool in_chunks = reader.framing() != Framing::length && crossing->errand.may_chunk;
  if (reader.framing() == Framing::length) {
    append_length(reader.length(), response.head);
  } else if (in_chunks) {
    response.head.append("Transfer-Encoding: chunked\r\n");
    std::string framed;
    append_framed(response.body, true, framed);
    response.body = std::move(framed);
  } else {
    response.close = true;  // which is how the client learns where it ends
  }
  response.rest = std::make_unique<Rest>(std::move(crossing), in_chunks);
  return response;
}

// True once all of it has left.
Task<bool> send_slowly(Crossing* crossing, std::size_t sent) {
  auto left = std::string_view(crossing->errand.bytes).substr(sent);
  while (!left.empty()) {
    crossing->begin_waiting();
    Wire::WriteSome writing{*crossing->wire, left};
    const auto taken = co_await writing;
    if (taken == 0) co_return false;
    left.remove_prefix(taken);
  }
  co_return true;
}

}  // namespace

Task<Response> exchange(std::shared_ptr<Pool> pool, Errand errand) {
  auto crossing = std::make_unique<Crossing>(std::move(pool), std::move(errand));
  auto& wire = crossing->wire;
  const Duration timeout = crossing->errand.timeout;
  std::optional<std::size_t> sent;
  while (true) {
    if (crossing->pool->is_closed()) co_return unreachable("the guard is shutting down");
    wire = crossing->pool->take();
    const bool is_fresh = wire == nullptr;
    if (is_fresh) {
      wire = crossing->pool->make();
      wire->deadline = soon(std::min(connect_timeout, timeout));
      Wire::Open opening{wire};
      if (!co_await opening) co_return unreachable(wire->failure());
    }
    wire->deadline = soon(timeout);
    sent = wire->write_now(crossing->errand.bytes);
    if (sent) break;
    if (is_fresh) co_return unreachable(wire->failure());
    // The upstream has closed it meanwhile; nothing was sent.
    wire->close();
  }
  if (*sent < crossing->errand.bytes.size()) {
    auto sending = send_slowly(crossing.get(), *sent);
    // What was not taken may have been answered all the same: it is too long, say.
    co_await std::move(sending);
  }
  while (true) {
    auto bytes = wire->unread();
    const auto before = bytes.size();
    const auto progress = crossing->reader.take_head(bytes);
    wire->consume(before - bytes.size());
    if (progress == Progress::complete) break;
    if (progress == Progress::malformed) co_return broken(*wire, "it is no HTTP/1.1");
    Wire::Read reading{*wire};
    if (!co_await reading && wire->unread().empty()) co_return broken(*wire, wire->failure());
    if (wire->has_ended()) co_return broken(*wire, wire->failure());
  }
  co_return pass_on(std::move(crossing));
}

}  // namespace holdfast::guard
