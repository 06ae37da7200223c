// SPDX-License-Identifier: Apache-2.0
//
// A lock's name and an owner's token are different types, because a library that passed one for
// the other once released nothing for a year.
#pragma once

#include <holdfast/error.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace holdfast {

inline constexpr std::size_t max_name_bytes = 512;
inline constexpr std::size_t max_owner_bytes = 256;

// A fence orders grants: of two grants of one lock, the later one has the larger fence. Hand it to
// the resource the lock protects, and let the resource refuse anything older than what it has seen.
// That is a rule for exclusive holders: readers and holders of a semaphore have different fences at
// the same time, and none of them is too late.
using Fence = std::uint64_t;

// Non-empty UTF-8 of at most max_name_bytes, without control characters or line separators.
class LockName {
 public:
  static Result<LockName> make(std::string_view text);

  const std::string& str() const noexcept { return text_; }
  friend bool operator==(const LockName&, const LockName&) = default;
  friend auto operator<=>(const LockName&, const LockName&) = default;

 private:
  explicit LockName(std::string_view text) : text_(text) {}
  std::string text_;
};

// The secret that proves a hold: whoever knows it can renew and release. The same rules as a name,
// at most max_owner_bytes. Without one given, every acquire makes a fresh 128-bit random owner.
class OwnerId {
 public:
  static Result<OwnerId> make(std::string_view text);
  // 32 hexadecimal digits.
  static OwnerId from_random(std::uint64_t high, std::uint64_t low);

  std::string_view view() const noexcept {
    return long_ ? std::string_view(*long_) : std::string_view(short_.data(), short_size_);
  }
  std::string str() const { return std::string(view()); }
  friend bool operator==(const OwnerId& a, const OwnerId& b) noexcept {
    return a.view() == b.view();
  }

 private:
  explicit OwnerId(std::string_view text);

  // Every command carries an owner, and almost every owner is a fresh one of 32 bytes: those live
  // inside, without an allocation.
  static constexpr std::size_t short_bytes = 39;
  std::uint8_t short_size_ = 0;
  std::array<char, short_bytes> short_;
  std::shared_ptr<const std::string> long_;
};

}  // namespace holdfast
