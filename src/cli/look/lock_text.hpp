// SPDX-License-Identifier: Apache-2.0
//
// A lock in words and lines, for `status`, `list`, `watch` and `force-release`. Everything returned
// is clean.
#pragma once

#include <holdfast/view.hpp>

#include "text/json.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace holdfast::cli {

// "report on web-1", or "unknown" where it did not say. For `holdfast run` its note and host.
std::string who(const std::shared_ptr<const Metadata>& metadata);
// "report on web-1, pid 4711".
std::string who_exactly(const std::shared_ptr<const Metadata>& metadata);

// "exclusive", "shared", "2 permits".
std::string share(Kind kind, std::uint32_t permits);

// "2026-11-15 21:30:00 UTC".
std::string readable_time(text::WallTime time);

// How long the holder that was granted first has held it; nothing if nobody holds it.
std::optional<Micros> age(const LockView& lock);
// The oldest first; those that are only waited for last.
void sort_by_age(std::vector<LockView>& locks);

// What `status` prints: the first line is a heading.
std::vector<std::string> status_lines(const LockView& lock, text::WallTime now);
// What `status --history` prints: the first line is a heading.
std::vector<std::string> history_lines(std::span<const LockEvent> events);
// What `list` prints: the first line is a heading.
std::vector<std::string> list_lines(std::span<const LockView> locks,
                                    std::optional<std::size_t> width);

}  // namespace holdfast::cli
