// SPDX-License-Identifier: Apache-2.0
//
// Which folder a user's store is in, and how its files are called.
#pragma once

#include <holdfast/error.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::backends::file {

// Depends on the user alone, never on the environment, so that cron and a shell meet in the same
// place: /run/holdfast for root, ~/.local/state/holdfast for everybody else.
Result<std::string> default_folder();

// What the kernel drew when it started; a new one after every reboot.
Result<std::string> current_boot_id();

// How far the boot clock of this process is from that of the machine: not at all, but in a time
// namespace. Errors: unsupported, unavailable.
Result<std::chrono::nanoseconds> boot_clock_offset();
// The same from the kernel's text, /proc/self/timens_offsets. Nothing if it is not understood.
std::optional<std::chrono::nanoseconds> parse_boot_clock_offset(std::string_view text);

std::string database_name(std::string_view boot_id);
inline constexpr std::string_view durable_database_name = "locks-durable.mdb";
std::string wake_name(std::string_view boot_id);
std::string temporary_name(std::string_view name);

// True for the files of a boot other than this one, finished or not. Nothing else may be removed:
// the folder may hold things that are not ours.
bool is_of_another_boot(std::string_view file_name, std::string_view boot_id);

}  // namespace holdfast::backends::file
