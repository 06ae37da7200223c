// SPDX-License-Identifier: Apache-2.0
//
// What binary formats are made of: little-endian integers of fixed width, and texts with their
// length in front.
#pragma once

#include "model/lock_state.hpp"

#include <array>
#include <bit>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace holdfast::model {

// No clock reaches this (36,000 years), and sums of a few such numbers do not overflow.
inline constexpr std::int64_t max_time_us = std::int64_t{1} << 60U;

inline std::int64_t count_of(StoreTime time) { return time.time_since_epoch().count(); }

template <typename T>
T swap_if_big_endian(T number) {
  if constexpr (std::endian::native == std::endian::big) return std::byteswap(number);
  return number;
}

// Integers of a known total size, written one after the other and appended at once.
template <std::size_t size>
class FixedWriter {
 public:
  template <typename T>
  FixedWriter& put(T number) {
    assert(used_ + sizeof number <= size);
    number = swap_if_big_endian(number);
    std::memcpy(bytes_.data() + used_, &number, sizeof number);
    used_ += sizeof number;
    return *this;
  }
  void append_to(std::string& out) const {
    assert(used_ == size);
    out.append(bytes_.data(), size);
  }

 private:
  std::array<char, size> bytes_;
  std::size_t used_ = 0;
};

inline void append_text(std::string_view text, std::string& out) {
  assert(text.size() <= UINT16_MAX);
  FixedWriter<2>().put(static_cast<std::uint16_t>(text.size())).append_to(out);
  out.append(text);
}

// Reads what the writers wrote. After the first failure everything reads as zero or empty, so that
// the caller may look at `failed` when it suits.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  template <typename T>
  T number() {
    T value{};
    if (rest_.size() < sizeof value) return fail(value);
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
    return swap_if_big_endian(value);
  }
  // Views into the bytes.
  std::string_view text() { return bytes(number<std::uint16_t>()); }
  std::string_view bytes(std::size_t size) {
    if (rest_.size() < size) return fail(std::string_view());
    const auto text = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return text;
  }
  std::size_t left() const { return rest_.size(); }
  bool failed() const { return failed_; }

 private:
  template <typename T>
  T fail(T nothing) {
    failed_ = true;
    rest_ = {};
    return nothing;
  }

  std::string_view rest_;
  bool failed_ = false;
};

}  // namespace holdfast::model
