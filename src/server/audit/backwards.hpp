// SPDX-License-Identifier: Apache-2.0
//
// Reads the lines of a large file from its end, a block at a time.
#pragma once

#include "server/audit/audit_files.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::server {

// The number that a line of the audit log begins with.
std::optional<std::uint64_t> seq_of(std::string_view line);

class Backwards {
 public:
  // From `end` on, which must be the end of a line or of the file. The file outlives the reader.
  Backwards(const FileHandle& file, std::uint64_t end) : file_(file), begin_(end) {}

  // Without its newline; empty once the beginning of the file was reached or it cannot be read.
  std::optional<std::string> line();
  std::uint64_t bytes_read() const { return bytes_read_; }

 private:
  bool read_block();

  const FileHandle& file_;
  std::uint64_t begin_;  // of what was read
  std::string held_;     // read, and not yet given
  std::uint64_t bytes_read_ = 0;
};

// The end of a part of the file that has every line with a smaller number than `seq`, and few
// others: found by halving, since the numbers grow.
std::uint64_t end_before(const ReadableFile& file, std::uint64_t seq);

}  // namespace holdfast::server
