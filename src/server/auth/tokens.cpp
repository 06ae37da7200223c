// SPDX-License-Identifier: Apache-2.0
#include "server/auth/tokens.hpp"

#include "server/auth/secret.hpp"
#include "server/auth/token_file.hpp"

#include <openssl/crypto.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <utility>

namespace holdfast::server {
namespace {

using Shared = std::shared_ptr<const Principal>;

std::uint64_t head_of(const SecretHash& hash) {
  std::uint64_t head = 0;
  std::memcpy(&head, hash.data(), sizeof head);
  return head;
}

std::uint64_t key_of(const Shared& principal) { return head_of(principal->secret_hash); }

}  // namespace

Result<std::shared_ptr<const Tokens>> Tokens::load(const std::string& path) {
  const auto text = read_token_file(path);
  if (!text) return std::unexpected(text.error());
  auto entries = parse_token_file(*text, path);
  if (!entries) return std::unexpected(std::move(entries.error()));
  std::vector<Principal> principals;
  principals.reserve(entries->size());
  for (auto& entry : *entries) principals.push_back(std::move(entry.principal));
  return std::make_shared<const Tokens>(std::move(principals));
}

Tokens::Tokens(std::vector<Principal> principals) {
  principals_.reserve(principals.size());
  for (auto& principal : principals) {
    principals_.push_back(std::make_shared<const Principal>(std::move(principal)));
  }
  std::ranges::sort(principals_, {}, key_of);
}

// The search goes by the hash of what was presented, not by what was presented. Its time may tell
// how many bits of that hash agree with a stored one, but nobody can choose a text whose SHA-256
// agrees in some bits more, other than by trying as many as guessing the bits would take; and
// whoever knew the whole hash would still not know a text that has it. The last comparison, which
// decides, looks at all bytes.
Shared Tokens::find(std::string_view presented, text::WallTime now) const {
  if (presented.empty() || presented.size() > max_token_bytes) return nullptr;
  const auto hash = hash_of(presented);
  Shared found;
  for (const auto& candidate : std::ranges::equal_range(principals_, head_of(hash), {}, key_of)) {
    const bool is_it = CRYPTO_memcmp(candidate->secret_hash.data(), hash.data(), hash.size()) == 0;
    if (is_it && !candidate->has_expired(now)) found = candidate;
  }
  return found;
}

Shared Tokens::find(std::string_view presented) const {
  return find(presented, std::chrono::floor<Micros>(std::chrono::system_clock::now()));
}

}  // namespace holdfast::server
