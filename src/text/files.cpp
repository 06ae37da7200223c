// SPDX-License-Identifier: Apache-2.0
#include "text/files.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <system_error>

namespace holdfast::text {

std::unexpected<Error> refuse_file(Errc code, const std::string& path, std::string_view what,
                                   int error) {
  return fail(code, fmt::format("{}: {}: {}", path, what, std::generic_category().message(error)));
}

std::string without_links(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                         &std::free);
  return real ? real.get() : path;
}

bool give_owner_and_mode(const struct stat& of, int fd) {
  struct stat fresh{};
  if (::fstat(fd, &fresh) != 0) return false;
  const bool is_ours = of.st_uid == fresh.st_uid && of.st_gid == fresh.st_gid;
  return (is_ours || ::fchown(fd, of.st_uid, of.st_gid) == 0) &&
         ::fchmod(fd, of.st_mode & 07777U) == 0;
}

}  // namespace holdfast::text
