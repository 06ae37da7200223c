// SPDX-License-Identifier: Apache-2.0
#include "backends/file/places.hpp"

#include "backends/file/descriptor.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <system_error>
#include <vector>

namespace holdfast::backends::file {

namespace {

constexpr std::string_view database_suffix = ".mdb";
constexpr std::string_view temporary_suffix = ".tmp";
constexpr std::size_t boot_id_length = 36;

bool is_boot_id(std::string_view text) {
  return text.size() == boot_id_length && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || c == '-';
         });
}

Result<std::string> home_folder(uid_t user) {
  std::vector<char> text(16384);
  passwd entry{};
  passwd* found = nullptr;
  const int failed = getpwuid_r(user, &entry, text.data(), text.size(), &found);
  if (failed != 0 || found == nullptr || entry.pw_dir == nullptr || entry.pw_dir[0] != '/') {
    return fail(Errc::unavailable,
                fmt::format("file: user {} has no home folder in the passwd database; "
                            "name a folder, as in file:/some/folder",
                            user));
  }
  return std::string(entry.pw_dir);
}

std::optional<std::int64_t> take_number(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

std::string link_target(const char* path) {
  std::array<char, 64> text{};
  const auto got = readlink(path, text.data(), text.size());
  return {text.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
}

}  // namespace

Result<std::string> default_folder() {
  const uid_t user = geteuid();
  if (user == 0) return "/run/holdfast";
  auto home = home_folder(user);
  if (!home) return home;
  // A fresh account may have neither of them; the store's own folder is made when it is opened.
  std::string folder = *home + "/.local";
  mkdir(folder.c_str(), 0700);
  folder += "/state";
  mkdir(folder.c_str(), 0700);
  return folder + "/holdfast";
}

Result<std::string> current_boot_id() {
  constexpr const char* source = "/proc/sys/kernel/random/boot_id";
  const Descriptor file(::open(source, O_RDONLY | O_CLOEXEC));
  std::array<char, boot_id_length> text{};
  const auto got = file ? read(file.get(), text.data(), text.size()) : -1;
  std::string boot_id(text.data(), text.size());
  if (got == static_cast<ssize_t>(text.size()) && is_boot_id(boot_id)) return boot_id;
  return fail(Errc::unavailable,
              fmt::format("file: {} cannot be read, and without it the files of an earlier boot "
                          "cannot be told from ours",
                          source));
}

std::optional<std::chrono::nanoseconds> parse_boot_clock_offset(std::string_view text) {
  constexpr std::string_view clock = "boottime";
  const auto line = text.find(clock);
  if (line == std::string_view::npos) return std::nullopt;
  text.remove_prefix(line + clock.size());
  const auto seconds = take_number(text);
  const auto nanoseconds = take_number(text);
  if (!seconds || !nanoseconds) return std::nullopt;
  return std::chrono::seconds(*seconds) + std::chrono::nanoseconds(*nanoseconds);
}

Result<std::chrono::nanoseconds> boot_clock_offset() {
  // The text is that of the namespace which the children of this process will be in. After
  // unshare() that is another one, and the offset of our own cannot be known.
  const auto ours = link_target("/proc/self/ns/time");
  if (ours != link_target("/proc/self/ns/time_for_children")) {
    return fail(Errc::unsupported,
                "file: this process has left its time namespace for that of its children, so its "
                "boot clock cannot be compared with that of others");
  }
  const Descriptor file(::open("/proc/self/timens_offsets", O_RDONLY | O_CLOEXEC));
  // A kernel without time namespaces has one boot clock.
  if (!file && errno == ENOENT) return std::chrono::nanoseconds(0);
  std::array<char, 256> text{};
  const auto got = file ? read(file.get(), text.data(), text.size()) : -1;
  if (got > 0) {
    const std::string_view read_text(text.data(), static_cast<std::size_t>(got));
    if (const auto offset = parse_boot_clock_offset(read_text)) return *offset;
  }
  return fail(Errc::unavailable, "file: /proc/self/timens_offsets cannot be read or understood");
}

std::string database_name(std::string_view boot_id) {
  return fmt::format("locks-{}{}", boot_id, database_suffix);
}

std::string wake_name(std::string_view boot_id) { return fmt::format("wake-{}", boot_id); }

std::string temporary_name(std::string_view name) {
  return fmt::format("{}{}", name, temporary_suffix);
}

bool is_of_another_boot(std::string_view file_name, std::string_view boot_id) {
  if (file_name.ends_with(temporary_suffix)) file_name.remove_suffix(temporary_suffix.size());
  if (file_name.starts_with("locks-") && file_name.ends_with(database_suffix)) {
    file_name.remove_prefix(std::string_view("locks-").size());
    file_name.remove_suffix(database_suffix.size());
  } else if (file_name.starts_with("wake-")) {
    file_name.remove_prefix(std::string_view("wake-").size());
  } else {
    return false;
  }
  return is_boot_id(file_name) && file_name != boot_id;
}

}  // namespace holdfast::backends::file
