// SPDX-License-Identifier: Apache-2.0
//
// What the upstream answers: bytes in, a head to pass on and a body out. Strict, as the reader of
// requests is: an answer that two programs could read differently is none.
#pragma once

#include "net/http/chunk_reader.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::guard {

class AnswerReader {
 public:
  enum class Progress : std::uint8_t { needs_more, complete, malformed };
  enum class Framing : std::uint8_t { none, length, chunked, until_close };

  AnswerReader(bool is_answer_to_head, std::size_t max_head_bytes)
      : is_answer_to_head_(is_answer_to_head), max_head_bytes_(max_head_bytes) {}

  // The head, from the front of `bytes`, of which it takes what it has understood. Answers before
  // the last one (1xx) are dropped. `complete`: all below is known, and what is left is body.
  Progress take_head(std::string_view& bytes);

  int status() const { return status_; }
  // Status line and fields, each with its line end; without those of one hop, and without how long
  // the body is.
  const std::string& head() const { return head_; }
  Framing framing() const { return framing_; }
  // Of the body, where that is known.
  std::uint64_t length() const { return length_; }
  // What an answer to HEAD, and a 304, say of the body that they do not have.
  const std::optional<std::uint64_t>& told_length() const { return told_length_; }

  // More of the body, to the end of `out`. `complete`: what is left of `bytes` is no part of it.
  Progress take_body(std::string_view& bytes, std::string& out);
  // The connection ended: whether the body is whole.
  bool end() const { return framing_ == Framing::until_close; }

  // Whether the upstream takes another request on this connection; asked after the body.
  bool keeps_alive() const { return keeps_alive_ && framing_ != Framing::until_close; }

 private:
  bool parse_head(std::string_view head);
  bool parse_status_line(std::string_view line);
  bool parse_fields(std::string_view lines);
  bool note_field(std::string_view name, std::string_view value);
  bool decide_framing();

  const bool is_answer_to_head_;
  const std::size_t max_head_bytes_;
  std::size_t scanned_ = 0;  // no end of the head before this
  std::string head_;
  int status_ = 0;
  int minor_version_ = 1;
  Framing framing_ = Framing::none;
  std::optional<std::uint64_t> told_length_;
  bool is_chunked_ = false;
  std::uint64_t length_ = 0;
  std::uint64_t taken_ = 0;  // of the body, where its length is known
  std::optional<net::http::ChunkReader> chunks_;
  bool keeps_alive_ = false;
};

}  // namespace holdfast::guard
