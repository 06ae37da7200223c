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
