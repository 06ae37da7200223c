// SPDX-License-Identifier: Apache-2.0
#include "net/http/chunk_reader.hpp"

#include <algorithm>
#include <optional>

namespace holdfast::net::http {

namespace {

// Around every byte of a body whose chunks have one byte each: "1\r\n" and "\r\n".
constexpr std::size_t wrapping_per_byte = 5;

std::optional<std::size_t> hex_value(char digit) {
  if (digit >= '0' && digit <= '9') return static_cast<std::size_t>(digit - '0');
  if (digit >= 'a' && digit <= 'f') return static_cast<std::size_t>(digit - 'a' + 10);
  if (digit >= 'A' && digit <= 'F') return static_cast<std::size_t>(digit - 'A' + 10);
  return std::nullopt;
}

bool is_control(char byte) {
  return (static_cast<unsigned char>(byte) < 0x20 && byte != '\t') || byte == 0x7f;
}

}  // namespace

ChunkReader::Progress ChunkReader::take(std::string_view& bytes, std::string& body) {
  while (!bytes.empty()) {
    if (expects_ == Expects::data) {
      const auto piece = bytes.substr(0, chunk_bytes_);
      body.append(piece);
      bytes.remove_prefix(piece.size());
      chunk_bytes_ -= piece.size();
      if (chunk_bytes_ == 0) expects_ = Expects::data_return;
      continue;
    }
    const auto progress = take_byte(bytes.front(), body.size());
    bytes.remove_prefix(1);
    if (progress != Progress::needs_more) return progress;
    ++wrapping_bytes_;
    if (wrapping_bytes_ > max_wrapping_bytes_ + wrapping_per_byte * body.size()) {
      return Progress::too_wrapped;
    }
  }
  return Progress::needs_more;
}

ChunkReader::Progress ChunkReader::take_digit(char byte, std::size_t body_bytes) {
  if (const auto value = hex_value(byte)) {
    expects_ = Expects::digit;
    // Before the next digit, what there is fits into the body: nothing can overflow.
    chunk_bytes_ = chunk_bytes_ * 16 + *value;
    const bool fits = chunk_bytes_ <= max_body_bytes_ - body_bytes;
    return fits ? Progress::needs_more : Progress::too_long;
  }
  if (expects_ == Expects::first_digit) return Progress::malformed;
  if (byte != ';' && byte != '\r') return Progress::malformed;
  expects_ = byte == ';' ? Expects::extension : Expects::size_line_feed;
  return Progress::needs_more;
}

ChunkReader::Progress ChunkReader::take_text(char byte, Expects line_feed) {
  if (byte == '\r') {
    expects_ = line_feed;
    return Progress::needs_more;
  }
  return is_control(byte) ? Progress::malformed : Progress::needs_more;
}

ChunkReader::Progress ChunkReader::take_byte(char byte, std::size_t body_bytes) {
  const auto want = [&](char wanted, Expects next) {
    expects_ = next;
    return byte == wanted ? Progress::needs_more : Progress::malformed;
  };
  switch (expects_) {
    case Expects::first_digit:
    case Expects::digit: return take_digit(byte, body_bytes);
    case Expects::extension: return take_text(byte, Expects::size_line_feed);
    case Expects::size_line_feed:
      return want('\n', chunk_bytes_ == 0 ? Expects::line : Expects::data);
    case Expects::data: break;  // taken in one piece
    case Expects::data_return: return want('\r', Expects::data_line_feed);
    case Expects::data_line_feed: return want('\n', Expects::first_digit);
    case Expects::line:
      if (byte == '\r') return want('\r', Expects::last_line_feed);
      expects_ = Expects::field;
      return take_text(byte, Expects::field_line_feed);
    case Expects::field: return take_text(byte, Expects::field_line_feed);
    case Expects::field_line_feed: return want('\n', Expects::line);
    case Expects::last_line_feed: return byte == '\n' ? Progress::complete : Progress::malformed;
  }
  return Progress::malformed;
}

}  // namespace holdfast::net::http
