// SPDX-License-Identifier: Apache-2.0
#include "net/http/request_reader.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/error.hpp>

#include <algorithm>

namespace holdfast::net::http {

namespace {

using http_error = boost::beast::http::error;

constexpr std::size_t first_buffer_bytes = 2048;
constexpr std::string_view header_end = "\r\n\r\n";

// A line end that is not CRLF, a folded line or a control byte: what one program takes for the end
// of a header, and the next one does not.
bool is_clean(std::string_view header) {
  for (std::size_t at = 0; at < header.size(); ++at) {
    const auto byte = static_cast<unsigned char>(header[at]);
    if (byte >= 0x20 && byte != 0x7f) continue;
    if (byte == '\t') continue;
    const bool ends_line = byte == '\r' && at + 1 < header.size() && header[at + 1] == '\n';
    if (!ends_line) return false;
    ++at;
    const bool folded = at + 1 < header.size() && (header[at + 1] == ' ' || header[at + 1] == '\t');
    if (folded) return false;
  }
  return true;
}

}  // namespace

std::span<char> RequestReader::space() {
  if (begin_ > 0 && state_ == Progress::needs_header && begin_ == end_) begin_ = end_ = scanned_ = 0;
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
    case Progress::needs_body: return state_ = chunk_parser_ ? read_chunks() : read_body();
    default: return state_;
  }
}

RequestReader::Progress RequestReader::refuse(int status, std::string_view code,
                                              std::string_view message) {
  refusal_ = {status, code, message};
  return Progress::refused;
}

RequestReader::Progress RequestReader::read_header() {
  // An empty line before a request is allowed to be ignored, and old clients send one.
  while (end_ - begin_ >= 2 && buffer_[begin_] == '\r' && buffer_[begin_ + 1] == '\n') begin_ += 2;
  scanned_ = std::max(scanned_, begin_);
  const std::string_view all(buffer_.data(), end_);
  const auto found = all.find(header_end, scanned_);
  if (found == std::string_view::npos) {
    if (end_ - begin_ > limits_.max_header_bytes) {
      return refuse(431, "headers_too_long", "the request's header is longer than max_header_bytes");
    }
    scanned_ = std::max(begin_, end_ - std::min(end_, header_end.size() - 1));
    // What is no HTTP at all should not have to wait for a time-out.
    const bool may_be_clean = is_clean(all.substr(begin_, scanned_ - begin_));
    return may_be_clean ? Progress::needs_header
                        : refuse(400, "malformed_request", "the request is not HTTP/1.1");
  }
  const auto header = all.substr(begin_, found + header_end.size() - begin_);
  if (header.size() > limits_.max_header_bytes) {
    return refuse(431, "headers_too_long", "the request's header is longer than max_header_bytes");
  }
  if (!is_clean(header)) {
    return refuse(400, "malformed_request",
                  "the request's header has a folded line, a bare line end or a control byte");
  }
  const auto lines = static_cast<std::size_t>(std::ranges::count(header, '\n')) - 2;
  if (lines > limits_.max_headers) {
    return refuse(431, "too_many_headers", "the request has more header fields than max_headers");
  }
  header_bytes_ = header.size();
  return parse_header();
}

RequestReader::Progress RequestReader::parse_header() {
  request_.headers.clear();
  request_.host = {};
  chunk_parser_.reset();
  HeaderParser plain(request_, chunks_);
  HeaderParser* parser = &plain;
  const boost::asio::const_buffer header(buffer_.data() + begin_, header_bytes_);
  const auto parse = [&] {
    parser->header_limit(static_cast<std::uint32_t>(header_bytes_ + 1));
    parser->body_limit(limits_.max_body_bytes);
    boost::beast::error_code failed;
    parser->put(header, failed);
    return failed == http_error::need_more ? boost::beast::error_code{} : failed;
  };
  const auto failed = parse();
  if (failed == http_error::bad_version) {
    return refuse(505, "http_version", "only HTTP/1.1 and HTTP/1.0 are spoken here");
  }
  if (failed == http_error::body_limit) {
    return refuse(413, "body_too_long", "the request's body is longer than max_body_bytes");
  }
  if (failed || !parser->is_header_done()) {
    return refuse(400, "malformed_request", "the request is not well-formed HTTP/1.1");
  }
  request_.keep_alive = parser->keep_alive();
  content_length_ = static_cast<std::size_t>(parser->content_length().value_or(0));
  request_.has_body = parser->chunked() || content_length_ > 0;
  if (parser->chunked()) {
    request_.headers.clear();
    parser = &chunk_parser_.emplace(request_, chunks_);
    parse();
    parser->eager(true);
  }
  return check_request();
}

RequestReader::Progress RequestReader::check_request() {
  if (request_.has_header("Transfer-Encoding") && !chunk_parser_) {
    return refuse(501, "transfer_encoding", "Transfer-Encoding: only chunked is understood");
  }
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
  expects_continue_ = boost::beast::iequals(request_.header("Expect"), "100-continue");
  if (!chunk_parser_) return read_body();
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
  boost::beast::error_code failed;
  while (!failed && !chunk_parser_->is_done()) {
    const boost::asio::const_buffer rest(buffer_.data() + begin_ + chunk_at_,
                                         buffered() - chunk_at_);
    chunk_at_ += chunk_parser_->put(rest, failed);
    if (rest.size() == 0) break;
  }
  if (chunk_parser_->is_done()) return finish(chunk_at_);
  if (failed == http_error::body_limit) {
    return refuse(413, "body_too_long", "the request's body is longer than max_body_bytes");
  }
  if (failed && failed != http_error::need_more) {
    return refuse(400, "malformed_request", "the request's chunks are malformed");
  }
  if (buffered() - chunk_at_ > limits_.max_header_bytes) {
    return refuse(431, "headers_too_long", "a chunk's header is longer than max_header_bytes");
  }
  header_came_first_ = true;
  return Progress::needs_body;
}

RequestReader::Progress RequestReader::finish(std::size_t request_bytes) {
  if (header_came_first_) {
    header_came_first_ = false;
    HeaderParser again(request_, chunks_);
    request_.headers.clear();
    const auto host_was_given = !request_.host.empty();
    request_.host = {};
    boost::beast::error_code ignored;
    again.header_limit(static_cast<std::uint32_t>(header_bytes_ + 1));
    again.body_limit(boost::none);
    again.put(boost::asio::const_buffer(buffer_.data() + begin_, header_bytes_), ignored);
    if (host_was_given && request_.host.empty()) request_.host = request_.header("Host");
  }
  request_.body = chunk_parser_ ? std::string_view(chunks_)
                                : std::string_view(buffer_.data() + begin_ + header_bytes_,
                                                   content_length_);
  request_bytes_ = request_bytes;
  return Progress::complete;
}

void RequestReader::next() {
  begin_ += request_bytes_;
  scanned_ = begin_;
  header_bytes_ = request_bytes_ = content_length_ = chunk_at_ = 0;
  expects_continue_ = asked_to_continue_ = header_came_first_ = false;
  chunk_parser_.reset();
  state_ = Progress::needs_header;
  request_.headers.clear();
  request_.host = request_.body = {};
  chunks_.clear();
}

}  // namespace holdfast::net::http
