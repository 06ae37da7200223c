// SPDX-License-Identifier: Apache-2.0
#include "server/audit/backwards.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace holdfast::server {
namespace {

constexpr std::uint64_t block_bytes = 64 * 1024;
// Longer than any entry: names, reasons and the rest have their limits.
constexpr std::size_t max_line_bytes = 1024 * 1024;

std::string read_at(const FileHandle& file, std::uint64_t at, std::uint64_t bytes) {
  std::string block(bytes, '\0');
  const auto count = pread(file.get(), block.data(), bytes, static_cast<off_t>(at));
  block.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return block;
}

}  // namespace

std::optional<std::uint64_t> seq_of(std::string_view line) {
  constexpr std::string_view opening = R"({"seq":)";
  if (!line.starts_with(opening)) return std::nullopt;
  line.remove_prefix(opening.size());
  std::uint64_t seq = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), seq);
  const bool whole = error == std::errc() && end != line.data() + line.size() && *end == ',';
  return whole ? std::optional(seq) : std::nullopt;
}

std::optional<std::string> Backwards::line() {
  if (!held_.empty() && held_.back() == '\n') held_.pop_back();
  while (true) {
    const auto newline = held_.rfind('\n');
    if (newline != std::string::npos) {
      auto line = held_.substr(newline + 1);
      held_.resize(newline + 1);
      return line;
    }
    const bool more = held_.size() < max_line_bytes && read_block();
    if (!more) break;
  }
  if (held_.empty()) return std::nullopt;
  return std::exchange(held_, {});
}

bool Backwards::read_block() {
  const auto bytes = std::min(block_bytes, begin_);
  if (bytes == 0) return false;
  const bool is_first = bytes_read_ == 0;
  auto block = read_at(file_, begin_ - bytes, bytes);
  if (block.size() != bytes) return false;
  begin_ -= bytes;
  bytes_read_ += bytes;
  if (is_first && block.ends_with('\n')) block.pop_back();
  held_.insert(0, block);
  return true;
}

std::uint64_t end_before(const ReadableFile& file, std::uint64_t seq) {
  std::uint64_t low = 0;
  std::uint64_t high = file.size;  // everything from here on has a number that is not smaller
  while (high - low > 2 * block_bytes) {
    const auto middle = low + (high - low) / 2;
    const auto block = read_at(file.file, middle, block_bytes);
    const auto newline = block.find('\n');
    if (newline == std::string::npos) return high;
    const auto found = seq_of(std::string_view(block).substr(newline + 1));
    // A torn line says nothing; reading on from the larger part is right, only slower.
    if (!found) return high;
    const auto next = middle + newline + 1;
    if (next >= high) return high;
    (*found < seq ? low : high) = next;
  }
  return high;
}

}  // namespace holdfast::server
