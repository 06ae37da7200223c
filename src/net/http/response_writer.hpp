// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/http/message.hpp"

#include <string>

namespace holdfast::net::http {

// How the end of the body is told.
enum class Framing : std::uint8_t { length, chunked, until_close };

// Appends the head of the answer, with its blank line.
void write_head(const Response& response, Framing framing, bool keep_alive, std::string& out);

// Appends one chunk of a chunked body; an empty one would end it, so it is left out.
void write_chunk(std::string_view bytes, std::string& out);

inline constexpr std::string_view last_chunk = "0\r\n\r\n";

}  // namespace holdfast::net::http
