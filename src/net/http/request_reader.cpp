// SPDX-License-Identifier: Apache-2.0
#include "net/http/request_reader.hpp"

#include "net/http/header_parser.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/error.hpp>

#include <algorithm>
#include <functional>

namespace holdfast::net::http {

namespace {

using http_error = boost::beast::http::error;

constexpr std::size_t first_buffer_bytes = 2048;
constexpr std::string_view header_end = "\r\n\r\n";

// A line end that is not CRLF, a folded line or a control byte: what one program takes for the end
// of a header, and the next one does not. Looks only backwards, so that a header is read once
// however many pieces it comes in; bytes before `from` were looked at before.
bool is_clean(std::string_view header, std::size_t from) {
  for (std::size_t at = from; at < header.size(); ++at) {
    const auto byte = static_cast<unsigned char>(header[at]);
    const char before = at > 0 ? header[at - 1] : '\0';
    if ((before == '\r') != (byte == '\n')) return false;
    const bool is_blank = byte == ' ' || byte == '\t';
    if (is_blank && before == '\n') return false;
    const bool is_control = byte < 0x20 || byte == 0x7f;
    if (is_control && byte != '\t' && byte != '\r' && byte != '\n') return false;
  }
  return true;
}

bool is_digits(std::string_view text) {
  return std::ranges::all_of(text, [](char each) { return each >= '0' && each <= '9'; });
}

}  // namespace

std::span<char> RequestReader::space() {
  if (begin_ > 0 && state_ == Progress::needs_header && begin_ == end_)
    begin_ = end_ = scanned_ = 0;
  if (end_ == buffer_.size()) {
    if (begin_ > 0) {
      buffer_.erase(0, begin_);
      end_ -= begin_;
      scanned_ -= begin_;
      begin_ = 0;
    }
    if (buffer_.size() - end_ < first_buffer_bytes / 2) {
      buffer_.resize(std::max(first_buffer_bytes, 2 * buffer_.size()));
    }
  }
  return {buffer_.data() + end_, buffer_.size() - end_};
}

void RequestReader::shrink() {
  if (begin_ != end_) return;
  begin_ = end_ = scanned_ = 0;
  buffer_ = {};
  chunks_ = {};
}

RequestReader::Progress RequestReader::advance() {
  switch (state_) {
    case Progress::needs_header: return state_ = read_header();
    case Progress::needs_body: return state_ = chunk_reader_ ? read_chunks() : read_body();
    default: return state_;
  }
}

RequestReader::Progress RequestReader::refuse(int status, std::string_view code,
                                              std::string_view message) {
  refusal_ = {status, code, message, path()};
  return Progress::refused;
}

RequestReader::Progress RequestReader::refuse_long_body() {
  return refuse(413, "body_too_long", "the request's body is longer than max_body_bytes");
}

std::size_t RequestReader::body_limit() const {
  const auto longer = limits_.long_body_bytes != nullptr ? limits_.long_body_bytes(request_) : 0;
  return std::max(limits_.max_body_bytes, longer);
}

// By its place, since the buffer may move before the body is there.
void RequestReader::note_path() {
  const auto header = std::string_view(buffer_).substr(begin_, header_bytes_);
  const std::less_equal<> is_before;
  const bool is_inside = !request_.path.empty() && is_before(header.data(), request_.path.data()) &&
                         is_before(request_.path.data(), header.data() + header.size());
  if (!is_inside) return;
  path_at_ = static_cast<std::size_t>(request_.path.data() - header.data());
  path_bytes_ = request_.path.size();
}

std::string_view RequestReader::path() const {
  return std::string_view(buffer_).substr(begin_, end_ - begin_).substr(path_at_, path_bytes_);
}

RequestReader::Progress RequestReader::read_header() {
  // An empty line before a request is allowed to be ignored, and old clients send one.
  while (end_ - begin_ >= 2 && buffer_[begin_] == '\r' && buffer_[begin_ + 1] == '\n') begin_ += 2;
  scanned_ = std::max(scanned_, begin_);
  const std::string_view all(buffer_.data() + begin_, end_ - begin_);
  const auto seen = scanned_ - begin_;
  const auto found = all.find(header_end, seen - std::min(seen, header_end.size() - 1));
  const bool is_whole = found != std::string_view::npos;
  const auto bytes = is_whole ? found + header_end.size() : all.size();
  const auto header = all.substr(0, std::min(bytes, limits_.max_header_bytes));
  // What is no HTTP at all should not have to wait for a time-out.
  if (!is_clean(header, std::min(seen, header.size()))) {
    return refuse(400, "malformed_request",
                  "the request's header has a folded line, a bare line end or a control byte");
  }
  if (bytes > limits_.max_header_bytes) {
    return refuse(431, "headers_too_long", "the request's header is longer than max_header_bytes");
  }
  scanned_ = begin_ + bytes;
  if (!is_whole) return Progress::needs_header;
  const auto lines = static_cast<std::size_t>(std::ranges::count(header, '\n')) - 2;
  if (lines > limits_.max_headers) {
    return refuse(431, "too_many_headers", "the request has more header fields than max_headers");
  }
  header_bytes_ = header.size();
  return parse_header();
}

RequestReader::Progress RequestReader::parse_header() {
  request_.headers.clear();
  request_.host = request_.path = {};
  HeaderParser parser(request_);
  parser.header_limit(static_cast<std::uint32_t>(header_bytes_ + 1));
  parser.body_limit(std::max(limits_.max_body_bytes, limits_.max_long_body_bytes));
  boost::beast::error_code failed;
  parser.put(boost::asio::const_buffer(buffer_.data() + begin_, header_bytes_), failed);
  note_path();
  if (failed == http_error::bad_version) {
    return refuse(505, "http_version", "only HTTP/1.1 and HTTP/1.0 are spoken here");
  }
  if (failed == http_error::body_limit) return refuse_long_body();
  const bool is_good = !failed || failed == http_error::need_more;
  if (!is_good || !parser.is_header_done()) {
    return refuse(400, "malformed_request", "the request is not well-formed HTTP/1.1");
  }
  request_.keep_alive = parser.keep_alive();
  content_length_ = static_cast<std::size_t>(parser.content_length().value_or(0));
  if (content_length_ > body_limit()) return refuse_long_body();
  request_.has_body = parser.chunked() || content_length_ > 0;
  if (parser.chunked()) chunk_reader_.emplace(body_limit(), limits_.max_header_bytes);
  return check_request();
}

// Who reads the length of a body differently sees another request behind it.
RequestReader::Progress RequestReader::check_framing() {
  std::size_t lengths = 0;
  std::size_t encodings = 0;
  for (const Header& each : request_.headers) {
    if (boost::beast::iequals(each.name, "Content-Length")) {
      ++lengths;
      if (!is_digits(each.value))
        return refuse(400, "malformed_request", "Content-Length: must be a number");
    } else if (boost::beast::iequals(each.name, "Transfer-Encoding")) {
      ++encodings;
      if (!boost::beast::iequals(each.value, "chunked")) {
        return refuse(501, "transfer_encoding", "Transfer-Encoding: only chunked is understood");
      }
    }
  }
  const bool is_too_old = encodings > 0 && request_.version < 11;
  if (lengths + encodings > 1 || is_too_old) {
    return refuse(400, "malformed_request",
                  "the length of the body is told twice, or in no way "
                  "that this version knows");
  }
  return Progress::needs_body;
}

RequestReader::Progress RequestReader::check_request() {
  if (auto framed = check_framing(); framed == Progress::refused) return framed;
  std::size_t hosts = 0;
  for (const Header& each : request_.headers) {
    if (!boost::beast::iequals(each.name, "Host")) continue;
    ++hosts;
    if (request_.host.empty()) request_.host = each.value;
  }
  if (hosts > 1 || (hosts == 0 && request_.version >= 11)) {
    return refuse(400, "malformed_request", "Host: exactly one is needed");
  }
  if (!request_.has_body) return finish(header_bytes_);
  expects_continue_ =
      request_.version >= 11 && boost::beast::iequals(request_.header("Expect"), "100-continue");
  if (!chunk_reader_) return read_body();
  chunk_at_ = header_bytes_;
  return read_chunks();
}

bool RequestReader::wants_continue() {
  const bool wants = expects_continue_ && !asked_to_continue_ && buffered() == header_bytes_;
  asked_to_continue_ = asked_to_continue_ || wants;
  return wants;
}

RequestReader::Progress RequestReader::read_body() {
  if (buffered() >= header_bytes_ + content_length_) return finish(header_bytes_ + content_length_);
  header_came_first_ = true;
  return Progress::needs_body;
}

RequestReader::Progress RequestReader::read_chunks() {
  std::string_view rest(buffer_.data() + begin_ + chunk_at_, buffered() - chunk_at_);
  const auto progress = chunk_reader_->take(rest, chunks_);
  chunk_at_ = buffered() - rest.size();
  switch (progress) {
    case ChunkReader::Progress::complete: return finish(chunk_at_);
    case ChunkReader::Progress::needs_more: break;
    case ChunkReader::Progress::malformed:
      return refuse(400, "malformed_request", "the request's chunks are malformed");
    case ChunkReader::Progress::too_long: return refuse_long_body();
    case ChunkReader::Progress::too_wrapped:
      return refuse(431, "headers_too_long",
                    "the chunks' headers are longer than max_header_bytes");
  }
  header_came_first_ = true;
  return Progress::needs_body;
}

RequestReader::Progress RequestReader::finish(std::size_t request_bytes) {
  if (header_came_first_) {
    header_came_first_ = false;
    HeaderParser again(request_);
    request_.headers.clear();
    const auto host_was_given = !request_.host.empty();
    request_.host = {};
    boost::beast::error_code ignored;
    again.header_limit(static_cast<std::uint32_t>(header_bytes_ + 1));
    again.body_limit(boost::none);
    again.put(boost::asio::const_buffer(buffer_.data() + begin_, header_bytes_), ignored);
    if (host_was_given && request_.host.empty()) request_.host = request_.header("Host");
  }
  request_.body = chunk_reader_
                      ? std::string_view(chunks_)
                      : std::string_view(buffer_.data() + begin_ + header_bytes_, content_length_);
  request_bytes_ = request_bytes;
  return Progress::complete;
}

void RequestReader::next() {
  begin_ += request_bytes_;
  scanned_ = begin_;
  header_bytes_ = request_bytes_ = content_length_ = chunk_at_ = path_at_ = path_bytes_ = 0;
  expects_continue_ = asked_to_continue_ = header_came_first_ = false;
  chunk_reader_.reset();
  state_ = Progress::needs_header;
  request_.headers.clear();
  request_.host = request_.body = {};
  chunks_.clear();
}

}  // namespace holdfast::net::http
