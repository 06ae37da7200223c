// SPDX-License-Identifier: Apache-2.0
#include "text/fence.hpp"

#include <charconv>

namespace holdfast::text {

namespace {

std::optional<Fence> if_good(std::uint64_t number) {
  return number >= 1 && number <= max_fence ? std::optional<Fence>(number) : std::nullopt;
}

}  // namespace

std::optional<Fence> parse_fence(std::string_view digits) {
  std::uint64_t number = 0;
  const char* const end = digits.data() + digits.size();
  const auto [rest, failed] = std::from_chars(digits.data(), end, number);
  if (failed != std::errc() || rest != end) return std::nullopt;
  return if_good(number);
}

std::optional<Fence> fence_in(const boost::json::value& value) {
  if (const auto* number = value.if_uint64()) return if_good(*number);
  const auto* number = value.if_int64();
  if (number == nullptr || *number < 0) return std::nullopt;
  return if_good(static_cast<std::uint64_t>(*number));
}

}  // namespace holdfast::text
