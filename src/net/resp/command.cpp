// SPDX-License-Identifier: Apache-2.0
#include "net/resp/command.hpp"

#include <array>
#include <charconv>

namespace holdfast::net::resp {

namespace {

// "*3\r\n" and "$17\r\n", made in one piece so that the string grows once.
void append_header(std::string& out, char kind, std::uint64_t number) {
  std::array<char, 24> header;
  header[0] = kind;
  char* end = std::to_chars(header.data() + 1, header.data() + header.size(), number).ptr;
  *end++ = '\r';
  *end++ = '\n';
  out.append(header.data(), end);
}

}  // namespace

Command::Command(std::size_t parts, std::size_t bytes_expected) {
  constexpr std::size_t usual_part = 24;
  bytes_.reserve(bytes_expected > 0 ? bytes_expected : 8 + parts * usual_part);
  append_header(bytes_, '*', parts);
}

Command& Command::add(std::string_view part) {
  append_header(bytes_, '$', part.size());
  bytes_.append(part).append("\r\n");
  return *this;
}

Command& Command::add(std::uint64_t number) {
  std::array<char, 20> digits;
  const char* end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  return add(std::string_view(digits.data(), end));
}

}  // namespace holdfast::net::resp
