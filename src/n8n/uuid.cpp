// SPDX-License-Identifier: Apache-2.0
#include "n8n/uuid.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>

namespace holdfast::n8n {
namespace {

// Ours: a random UUID, as RFC 9562 wants it for names that nobody else makes.
constexpr std::array<unsigned char, 16> name_space{0x5b, 0x0c, 0x9a, 0x5e, 0x2f, 0x6d, 0x4e, 0x0b,
                                                   0x9d, 0x31, 0x77, 0x1c, 0x84, 0xe2, 0x60, 0xfa};

}  // namespace

std::string uuid_of(std::string_view workflow, std::string_view slug) {
  std::string text(name_space.begin(), name_space.end());
  text.append(workflow).append(1, '\n').append(slug);
  std::array<unsigned char, EVP_MAX_MD_SIZE> hash{};
  EVP_Digest(text.data(), text.size(), hash.data(), nullptr, EVP_sha1(), nullptr);
  hash[6] = static_cast<unsigned char>((hash[6] & 0x0fU) | 0x50U);  // version 5
  hash[8] = static_cast<unsigned char>((hash[8] & 0x3fU) | 0x80U);  // variant
  std::string out;
  for (std::size_t i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) out += '-';
    out += fmt::format("{:02x}", hash[i]);
  }
  return out;
}

}  // namespace holdfast::n8n
