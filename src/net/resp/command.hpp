// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast::net::resp {

// One command in RESP, as it leaves on the wire. Every part is length-prefixed, so that no byte of
// a name or a token can be taken for protocol.
class Command {
 public:
  explicit Command(std::size_t parts, std::size_t bytes_expected = 0);

  // Exactly as many parts as were announced.
  Command& add(std::string_view part);
  Command& add(std::uint64_t number);

  std::string take() && { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// Command of a few words: command("CLIENT", "ID").
template <typename... Parts>
std::string command(const Parts&... parts) {
  Command out(sizeof...(parts));
  (out.add(parts), ...);
  return std::move(out).take();
}

}  // namespace holdfast::net::resp
