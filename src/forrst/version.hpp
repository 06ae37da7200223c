// SPDX-License-Identifier: Apache-2.0
//
// Versions of functions and of the protocol: semantic versioning 2.0, compared as it says.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::forrst {

enum class Stability : std::uint8_t { alpha, beta, rc, stable };

// "stable", "rc", …
std::string_view to_string(Stability stability) noexcept;

inline constexpr std::size_t max_version_bytes = 64;

class Version {
 public:
  // "1.2.3", "2.0.0-beta.1", "1.0.0+build"; nothing for anything else.
  static std::optional<Version> parse(std::string_view text);

  const std::string& str() const { return text_; }
  std::uint64_t major() const { return numbers_[0]; }
  // By the first word behind the dash: alpha…, beta…, rc…; without one it is stable, and every
  // other word counts as alpha.
  Stability stability() const;

  // By precedence: what stands behind a plus does not count.
  friend std::strong_ordering operator<=>(const Version& a, const Version& b);
  friend bool operator==(const Version& a, const Version& b) { return (a <=> b) == 0; }

 private:
  Version() = default;
  std::string text_;
  std::uint64_t numbers_[3]{};
  std::string prerelease_;
};

}  // namespace holdfast::forrst
