// SPDX-License-Identifier: Apache-2.0
#include "backends/redis/tokens.hpp"

#include "runtime/clock.hpp"
#include "runtime/uuid.hpp"

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

// Sixteen bytes are 21 full digits, one with two bits, and padding.
std::string base64(runtime::Runtime& runtime) {
  return random_text(base64_digits, 21, runtime) + "AQgw"[runtime.random() & 3U] + "==";
}

std::string text_of(Token form, runtime::Runtime& runtime) {
  switch (form) {
    case Token::hex: return random_text("0123456789abcdef", 32, runtime);
    case Token::uuid: return runtime::fresh_uuid(runtime);
    case Token::redisx:
      return fmt::format("{}-{}-{}", getpid(), runtime::wall_clock_us() / 1000,
                         random_text(alphanumerics.substr(0, 36), 15, runtime));
    case Token::base64: return base64(runtime);
    case Token::alphanumeric: return random_text(alphanumerics, 16, runtime);
    case Token::redisson: return fmt::format("{}:1", runtime::fresh_uuid(runtime));
  }
  return runtime::fresh_uuid(runtime);
}

}  // namespace

OwnerId make_token(Token form, runtime::Runtime& runtime) {
  return OwnerId::make(text_of(form, runtime)).value();
}

}  // namespace holdfast::backends::redis
