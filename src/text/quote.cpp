// SPDX-License-Identifier: Apache-2.0
#include "text/quote.hpp"

#include <fmt/format.h>

#include <iterator>

namespace holdfast::text {

std::string quoted(std::string_view text) {
  constexpr std::size_t most = 64;
  std::string out = "\"";
  for (const char byte : text.substr(0, most)) {
    if (byte == '"' || byte == '\\') {
      out += '\\';
      out += byte;
    } else if (byte >= 0x20 && byte <= 0x7e) {
      out += byte;
    } else {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(byte));
    }
  }
  out += text.size() > most ? "…\"" : "\"";
  return out;
}

std::string_view without_peer(std::string_view reason, std::string_view peer) {
  const bool repeats = reason.starts_with(peer) && reason.substr(peer.size()).starts_with(": ");
  return repeats ? reason.substr(peer.size() + 2) : reason;
}

}  // namespace holdfast::text
