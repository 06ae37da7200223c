// SPDX-License-Identifier: Apache-2.0
#include "text/password.hpp"

#include "text/quote.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <optional>
#include <system_error>
#include <utility>

namespace holdfast::text {
namespace {

std::optional<std::string> take(StoreUrl& url, std::string_view option) {
  const auto found = url.options.find(option);
  if (found == url.options.end()) return std::nullopt;
  auto value = std::move(found->second);
  url.options.erase(found);
  return value;
}

std::unexpected<Error> refuse_password(std::string_view where, std::string_view reason) {
  return fail(Errc::bad_input, fmt::format("store: {} {}", where, reason));
}

// All of it, but for a file without end one byte more than a password may have.
Result<std::string> read_file(const std::string& path, std::string_view where) {
  const auto unreadable = [&](int error) {
    return refuse_password(
        where, fmt::format("cannot be read: {}", std::generic_category().message(error)));
  };
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return unreadable(errno);
  // Room for the line end too.
  std::string text(max_password_bytes + 3, '\0');
  std::size_t size = 0;
  int failure = 0;
  while (size < text.size()) {
    const auto got = ::read(fd, text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) failure = errno;
    if (got <= 0) break;
    size += static_cast<std::size_t>(got);
  }
  ::close(fd);
  if (failure != 0) return unreadable(failure);
  text.resize(size);
  return text;
}

void remove_line_end(std::string& text) {
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
}

Result<void> accept(StoreUrl& url, std::string password, std::string_view where) {
  remove_line_end(password);
  if (password.empty()) return refuse_password(where, "is empty; it must hold the password");
  if (password.size() > max_password_bytes) {
    return refuse_password(
        where, fmt::format("must hold a password of at most {} bytes", max_password_bytes));
  }
  const auto is_control = [](char byte) {
    return static_cast<unsigned char>(byte) < 0x20 || byte == 0x7f;
  };
  if (std::ranges::any_of(password, is_control)) {
    return refuse_password(where, "must hold one line without control characters, the password");
  }
  url.password = std::move(password);
  return {};
}

Result<void> from_file(StoreUrl& url, const std::string& path) {
  const auto where = fmt::format("password_file {}", quoted(path));
  auto text = read_file(path, where);
  if (!text) return std::unexpected(std::move(text.error()));
  return accept(url, std::move(*text), where);
}

Result<void> from_environment(StoreUrl& url, const std::string& name) {
  const auto where = fmt::format("the environment variable {} of password_env", quoted(name));
  const char* value = std::getenv(name.c_str());
  if (value == nullptr) return refuse_password(where, "is not set; it must hold the password");
  return accept(url, value, where);
}

}  // namespace

Result<void> find_password(StoreUrl& url) {
  const auto file = take(url, "password_file");
  const auto variable = take(url, "password_env");
  if (!file && !variable) return {};
  if (file && variable) {
    return fail(Errc::bad_input, "store: give password_file or password_env, not both");
  }
  if (!url.password.empty()) {
    return fail(Errc::bad_input,
                fmt::format("store: the URL has a password and the option {}; give one of them",
                            file ? "password_file" : "password_env"));
  }
  return file ? from_file(url, *file) : from_environment(url, *variable);
}

}  // namespace holdfast::text
