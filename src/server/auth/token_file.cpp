// SPDX-License-Identifier: Apache-2.0
#include "server/auth/token_file.hpp"

#include "server/auth/token_line.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <system_error>
#include <utility>

namespace holdfast::server {
namespace {

std::unexpected<Error> refuse(std::string_view where, std::string_view reason) {
  return fail(Errc::bad_input, fmt::format("{}: {}", where, reason));
}

std::unexpected<Error> unreadable(const std::string& path, int error) {
  return refuse(path, "cannot be read: " + std::generic_category().message(error));
}

bool says_nothing(std::string_view line) {
  const auto begin = line.find_first_not_of(" \t");
  return begin == std::string_view::npos || line[begin] == '#';
}

Result<void> check_file(const struct stat& file, const std::string& path) {
  if (!S_ISREG(file.st_mode)) return refuse(path, "must be a regular file");
  if (file.st_uid != 0 && file.st_uid != ::geteuid()) {
    return refuse(path,
                  fmt::format("must belong to the user who runs this program ({}) or to root; "
                              "it belongs to user {}",
                              ::geteuid(), file.st_uid));
  }
  if ((file.st_mode & 077U) != 0) {
    return refuse(path, fmt::format("must be closed to group and others, but has mode {:04o}; say "
                                    "chmod 600",
                                    file.st_mode & 07777U));
  }
  return {};
}

// Tells the line where a thing stood before.
class Seen {
 public:
  Result<void> add(const TokenEntry& entry) {
    const auto& principal = entry.principal;
    const auto name = lines_of_names_.try_emplace(principal.name, entry.line);
    if (!name.second) {
      return fail(Errc::bad_input, fmt::format("the name {} stands in line {} already",
                                               principal.name, name.first->second));
    }
    const auto hash = lines_of_hashes_.try_emplace(principal.secret_hash, entry.line);
    if (!hash.second) {
      return fail(Errc::bad_input,
                  fmt::format("the same token stands in line {} already", hash.first->second));
    }
    return {};
  }

 private:
  std::map<std::string, std::size_t, std::less<>> lines_of_names_;
  std::map<SecretHash, std::size_t> lines_of_hashes_;
};

}  // namespace

Result<std::vector<TokenEntry>> parse_token_file(std::string_view text,
                                                 std::string_view file_name) {
  if (text.size() > max_token_file_bytes) {
    return refuse(file_name, fmt::format("must have at most {} bytes", max_token_file_bytes));
  }
  std::vector<TokenEntry> entries;
  Seen seen;
  for (std::size_t number = 1; !text.empty(); ++number) {
    auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (says_nothing(line)) continue;
    const auto where = fmt::format("{}:{}", file_name, number);
    auto principal = parse_token_line(line);
    if (!principal) return refuse(where, principal.error().message);
    if (entries.size() == max_tokens) {
      return refuse(where, fmt::format("there are more than {} tokens", max_tokens));
    }
    entries.push_back({std::move(*principal), number});
    if (auto added = seen.add(entries.back()); !added) return refuse(where, added.error().message);
  }
  return entries;
}

Result<std::string> read_token_file(int fd, const std::string& path) {
  struct stat file{};
  if (::fstat(fd, &file) != 0) return unreadable(path, errno);
  if (auto checked = check_file(file, path); !checked) {
    return std::unexpected(std::move(checked.error()));
  }
  // One byte more than it may have, so that parse_token_file notices.
  std::string text(max_token_file_bytes + 1, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const auto got = ::pread(fd, text.data() + size, text.size() - size, static_cast<off_t>(size));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return unreadable(path, errno);
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  text.resize(size);
  return text;
}

Result<std::string> read_token_file(const std::string& path) {
  // Without O_NONBLOCK a pipe would wait here for somebody to write.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return unreadable(path, errno);
  auto text = read_token_file(fd, path);
  ::close(fd);
  return text;
}

}  // namespace holdfast::server
