// SPDX-License-Identifier: Apache-2.0
#include "backends/file/record.hpp"

#include "model/bytes.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace holdfast::backends::file {

namespace {

// Between the cut name and its hash. No name has control characters, so no plain name looks so.
constexpr char cut_mark = '\x01';
constexpr std::size_t hash_bytes = 16;

__extension__ using Hash = unsigned __int128;

// FNV-1a with 128 bits. Not safe against somebody who looks for collisions, and it need not be: a
// name that meets another one's record is refused, never served.
Hash hash_of(std::string_view text) {
  constexpr Hash prime = (Hash{1} << 88U) + 0x13B;
  Hash hash = (Hash{0x6c62272e07bb0142} << 64U) + 0x62b821756295c58d;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * prime;
  return hash;
}

}  // namespace

RecordKey::RecordKey(model::Machine machine, std::string_view name) {
  bytes_[size_++] = static_cast<char>(std::to_underlying(machine));
  append(name.substr(0, max_plain_name_bytes));
  if (name.size() <= max_plain_name_bytes) return;
  bytes_[size_++] = cut_mark;
  Hash hash = hash_of(name);
  for (std::size_t i = 0; i < hash_bytes; ++i, hash >>= 8U)
    bytes_[size_++] = static_cast<char>(hash);
}

void RecordKey::append(std::string_view text) {
  assert(size_ + text.size() <= max_key_bytes);
  std::ranges::copy(text, bytes_.begin() + static_cast<std::ptrdiff_t>(size_));
  size_ += text.size();
}

std::string first_key(model::Machine machine, std::string_view prefix) {
  std::string key(1, static_cast<char>(std::to_underlying(machine)));
  return key.append(prefix.substr(0, max_plain_name_bytes));
}

std::optional<Record> parse_record(std::string_view key, std::string_view value) {
  if (key.size() <= 1) return std::nullopt;
  if (key.size() <= 1 + max_plain_name_bytes) return Record{key.substr(1), value};
  model::ByteReader in(value);
  const auto name = in.text();
  if (in.failed()) return std::nullopt;
  return Record{name, value.substr(value.size() - in.left())};
}

void make_value(std::string_view name, std::string& state) {
  if (name.size() <= max_plain_name_bytes) return;
  std::string value;
  model::append_text(name, value);
  state.insert(0, value);
}

}  // namespace holdfast::backends::file
