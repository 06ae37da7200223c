// SPDX-License-Identifier: Apache-2.0
#include "guard/answer_reader.hpp"

#include "guard/forward.hpp"

#include <boost/beast/core/string.hpp>

#include <algorithm>
#include <charconv>

namespace holdfast::guard {

namespace {

using boost::beast::iequals;

constexpr std::string_view head_end = "\r\n\r\n";
// A body goes on its way as it comes: neither it nor what is around it is kept.
constexpr std::size_t any_length = std::size_t{1} << 56U;

bool is_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char byte) {
    return byte > 0x20 && byte < 0x7f && byte != ':' && byte != '"' && byte != '(' && byte != ')' &&
           byte != ',' && byte != '/';
  });
}

bool is_text(std::string_view text) {
  return std::ranges::none_of(
      text, [](unsigned char byte) { return (byte < 0x20 && byte != '\t') || byte == 0x7f; });
}

std::string_view trimmed(std::string_view text) {
  const auto is_blank = [](char each) { return each == ' ' || each == '\t'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// Calls `use(line)` for each, without its end; false as soon as that is.
template <typename Use>
bool each_line(std::string_view lines, Use use) {
  while (!lines.empty()) {
    const auto end = lines.find("\r\n");
    if (!use(lines.substr(0, end))) return false;
    lines.remove_prefix(end + 2);
  }
  return true;
}

}  // namespace

AnswerReader::Progress AnswerReader::take_head(std::string_view& bytes) {
  while (true) {
    const auto end = bytes.find(head_end, scanned_);
    if (end == std::string_view::npos) {
      // The end may be half there.
      scanned_ = bytes.size() < head_end.size() ? 0 : bytes.size() - head_end.size() + 1;
      return bytes.size() > max_head_bytes_ ? Progress::malformed : Progress::needs_more;
    }
    const auto size = end + head_end.size();
    if (size > max_head_bytes_ || !parse_head(bytes.substr(0, size - 2))) {
      return Progress::malformed;
    }
    bytes.remove_prefix(size);
    scanned_ = 0;
    // Switching is nothing that was asked for.
    if (status_ == 101) return Progress::malformed;
    if (status_ >= 200) return Progress::complete;
  }
}

bool AnswerReader::parse_head(std::string_view head) {
  head_.clear();
  told_length_.reset();
  is_chunked_ = false;
  const auto line_end = head.find("\r\n");
  return parse_status_line(head.substr(0, line_end)) && parse_fields(head.substr(line_end + 2)) &&
         decide_framing();
}

// "HTTP/1.1 200 OK"
bool AnswerReader::parse_status_line(std::string_view line) {
  const bool has_shape = line.size() >= 12 && line.starts_with("HTTP/1.") && line[8] == ' ' &&
                         (line.size() == 12 || line[12] == ' ');
  if (!has_shape || (line[7] != '0' && line[7] != '1') || !is_text(line)) return false;
  const auto digits = line.substr(9, 3);
  const auto [end, failed] = std::from_chars(digits.data(), digits.data() + 3, status_);
  if (failed != std::errc() || end != digits.data() + 3 || status_ < 100 || digits[0] == '-') {
    return false;
  }
  minor_version_ = line[7] - '0';
  head_.append("HTTP/1.1").append(line.substr(8)).append(line.size() == 12 ? " \r\n" : "\r\n");
  return true;
}

bool AnswerReader::parse_fields(std::string_view lines) {
  HopFields hop;
  const bool is_good = each_line(lines, [&](std::string_view line) {
    const auto colon = line.find(':');
    if (colon == std::string_view::npos || !is_token(line.substr(0, colon)) || !is_text(line)) {
      return false;
    }
    if (iequals(line.substr(0, colon), "Connection")) hop.add_named(line.substr(colon + 1));
    return true;
  });
  if (!is_good) return false;
  keeps_alive_ = minor_version_ == 1 ? !hop.names("close") : hop.names("keep-alive");
  return each_line(lines, [&](std::string_view line) {
    const auto colon = line.find(':');
    const auto name = line.substr(0, colon);
    if (!note_field(name, trimmed(line.substr(colon + 1)))) return false;
    const bool is_ours = hop.contains(name) || iequals(name, "Content-Length");
    if (!is_ours) head_.append(line).append("\r\n");
    return true;
  });
}

bool AnswerReader::note_field(std::string_view name, std::string_view value) {
  if (iequals(name, "Transfer-Encoding")) {
    const bool is_good = !is_chunked_ && !told_length_ && iequals(value, "chunked");
    is_chunked_ = true;
    return is_good;
  }
  if (!iequals(name, "Content-Length")) return true;
  std::uint64_t length = 0;
  const auto [end, failed] = std::from_chars(value.data(), value.data() + value.size(), length);
  if (failed != std::errc() || end != value.data() + value.size()) return false;
  if (is_chunked_ || told_length_.value_or(length) != length) return false;
  told_length_ = length;
  return true;
}

bool AnswerReader::decide_framing() {
  if (is_chunked_ && minor_version_ == 0) return false;
  const bool has_none = is_answer_to_head_ || status_ < 200 || status_ == 204 || status_ == 304;
  framing_ = has_none       ? Framing::none
             : is_chunked_  ? Framing::chunked
             : told_length_ ? Framing::length
                            : Framing::until_close;
  length_ = framing_ == Framing::length ? *told_length_ : 0;
  if (framing_ == Framing::chunked) chunks_.emplace(any_length, any_length);
  return true;
}

AnswerReader::Progress AnswerReader::take_body(std::string_view& bytes, std::string& out) {
  if (framing_ == Framing::chunked) {
    // The reader counts what it finds in front of it; this body is passed on, not gathered.
    std::string piece;
    const auto progress = chunks_->take(bytes, piece);
    out.append(piece);
    if (progress == net::http::ChunkReader::Progress::complete) return Progress::complete;
    return progress == net::http::ChunkReader::Progress::needs_more ? Progress::needs_more
                                                                    : Progress::malformed;
  }
  if (framing_ == Framing::none) return Progress::complete;
  const auto left = framing_ == Framing::length ? length_ - taken_ : UINT64_MAX;
  const auto piece = bytes.substr(0, std::min<std::uint64_t>(left, bytes.size()));
  out.append(piece);
  bytes.remove_prefix(piece.size());
  taken_ += piece.size();
  return framing_ == Framing::length && taken_ == length_ ? Progress::complete
                                                          : Progress::needs_more;
}

}  // namespace holdfast::guard
