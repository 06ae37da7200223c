// SPDX-License-Identifier: Apache-2.0
#include "backends/redis/tokens.hpp"

#include "runtime/clock.hpp"

#include <fmt/format.h>
#include <unistd.h>

namespace holdfast::backends::redis {

namespace {

constexpr std::string_view alphanumerics =
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
constexpr std::string_view base64_digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// Evenly over the alphabet: what would favour its first letters is drawn again.
std::string random_text(std::string_view alphabet, std::size_t length, runtime::Runtime& runtime) {
  const std::uint64_t fair = UINT64_MAX - UINT64_MAX % alphabet.size();
  std::string text;
  while (text.size() < length) {
    const auto draw = runtime.random();
    if (draw < fair) text += alphabet[draw % alphabet.size()];
  }
  return text;
}

// Version 4: four bits say so, two say which family.
std::string uuid(runtime::Runtime& runtime) {
  const auto high = (runtime.random() & ~0xf000ULL) | 0x4000ULL;
  const auto low = (runtime.random() & ~(3ULL << 62U)) | (2ULL << 62U);
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32U, high >> 16U & 0xffffU,
                     high & 0xffffU, low >> 48U, low & 0xffff'ffff'ffffULL);
}

// Sixteen bytes are 21 full digits, one with two bits, and padding.
std::string base64(runtime::Runtime& runtime) {
  return random_text(base64_digits, 21, runtime) + "AQgw"[runtime.random() & 3U] + "==";
}

std::string text_of(Token form, runtime::Runtime& runtime) {
  switch (form) {
    case Token::hex: return random_text("0123456789abcdef", 32, runtime);
    case Token::uuid: return uuid(runtime);
    case Token::redisx:
      return fmt::format("{}-{}-{}", getpid(), runtime::wall_clock_us() / 1000,
                         random_text(alphanumerics.substr(0, 36), 15, runtime));
    case Token::base64: return base64(runtime);
    case Token::alphanumeric: return random_text(alphanumerics, 16, runtime);
    case Token::redisson: return fmt::format("{}:1", uuid(runtime));
  }
  return uuid(runtime);
}

}  // namespace

OwnerId make_token(Token form, runtime::Runtime& runtime) {
  return OwnerId::make(text_of(form, runtime)).value();
}

}  // namespace holdfast::backends::redis
