// SPDX-License-Identifier: Apache-2.0
//
// A history as text, one JSON object per line, as docs/history-format.md describes it.
#pragma once

#include "history/history.hpp"

#include <cstdio>
#include <expected>
#include <string>
#include <string_view>

namespace holdfast::history {

inline constexpr std::size_t max_line_bytes = 1U << 20U;

// The error is a sentence that names the line, the field and the rule:
// "line 3: until_ns: must be a whole number of nanoseconds".
using Parsed = std::expected<History, std::string>;

Parsed read_jsonl(std::string_view text);
// Reads to the end of the file, which stays open.
Parsed read_jsonl(std::FILE* file);

// Appends the line of one event, with its newline.
void append_jsonl(const History& history, std::size_t event, std::string& to);
std::string to_jsonl(const History& history);

}  // namespace holdfast::history
