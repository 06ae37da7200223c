// SPDX-License-Identifier: Apache-2.0
#include "model/party.hpp"

#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <string>

namespace holdfast::model {

std::uint64_t party_of(std::string_view owner) {
  const std::string text = std::string("holdfast party").append(owner);
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  std::uint64_t party = 0;
  for (std::size_t at = 0; at < sizeof party; ++at) party = party << 8U | digest[at];
  return std::max<std::uint64_t>(party, 1);
}

}  // namespace holdfast::model
