// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::net::http {

// A chunked body, byte by byte: what comes out, and where it is refused, does not depend on how the
// bytes were cut into pieces. Extensions and trailing fields are dropped, since nobody may add a
// header after the fact.
class ChunkReader {
 public:
  enum class Progress : std::uint8_t {
    needs_more,
    complete,
    malformed,
    too_long,     // the body
    too_wrapped,  // all that is not the body: it is limited too, for it is kept until the end
  };

  ChunkReader(std::size_t max_body_bytes, std::size_t max_wrapping_bytes)
      : max_body_bytes_(max_body_bytes), max_wrapping_bytes_(max_wrapping_bytes) {}

  // Takes from the front of `bytes`, up to the end of the body, and appends to `body`.
  Progress take(std::string_view& bytes, std::string& body);

 private:
  enum class Expects : std::uint8_t {
    first_digit,
    digit,
    extension,
    size_line_feed,
    data,
    data_return,
    data_line_feed,
    line,  // a trailing field, or the end
    field,
    field_line_feed,
    last_line_feed,
  };

  Progress take_byte(char byte, std::size_t body_bytes);
  Progress take_digit(char byte, std::size_t body_bytes);
  Progress take_text(char byte, Expects line_feed);

  const std::size_t max_body_bytes_;
  const std::size_t max_wrapping_bytes_;
  Expects expects_ = Expects::first_digit;
  std::size_t chunk_bytes_ = 0;  // of the chunk, still to come
  std::size_t wrapping_bytes_ = 0;
};

}  // namespace holdfast::net::http
