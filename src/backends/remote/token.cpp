// SPDX-License-Identifier: Apache-2.0
#include "backends/remote/token.hpp"

#include "text/quote.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <system_error>

namespace holdfast::backends::remote {

namespace {

constexpr std::size_t max_token_bytes = 4096;

std::unexpected<Error> refuse_token(std::string_view where, std::string_view reason) {
  return fail(Errc::bad_input, fmt::format("store: {} {}", where, reason));
}

Result<Token> accept(std::string secret, std::string where) {
  if (secret.ends_with('\n')) secret.pop_back();
  if (secret.ends_with('\r')) secret.pop_back();
  if (secret.empty()) return refuse_token(where, "is empty; it must hold the token");
  if (secret.size() > max_token_bytes) {
    return refuse_token(where,
                        fmt::format("must hold a token of at most {} bytes", max_token_bytes));
  }
  // It becomes part of a header.
  const bool is_one_word =
      std::ranges::all_of(secret, [](char byte) { return byte > ' ' && byte < 0x7f; });
  if (!is_one_word) return refuse_token(where, "must hold one word of printable ASCII, the token");
  return Token{std::move(secret), std::move(where)};
}

Result<Token> from_file(const std::string& path) {
  auto where = fmt::format("token_file {}", text::quoted(path));
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text(max_token_bytes + 3, '\0');
  if (file) file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.is_open() || file.bad()) {
    const auto reason = std::generic_category().message(errno == 0 ? EIO : errno);
    return refuse_token(where, fmt::format("cannot be read: {}", reason));
  }
  text.resize(static_cast<std::size_t>(file.gcount()));
  return accept(std::move(text), std::move(where));
}

Result<Token> from_environment(const std::string& name) {
  auto where = fmt::format("the environment variable {} of token_env", text::quoted(name));
  const char* value = std::getenv(name.c_str());
  if (value == nullptr) return refuse_token(where, "is not set; it must hold the token");
  return accept(value, std::move(where));
}

}  // namespace

Result<Token> find_token(const text::StoreUrl& url) {
  const auto file = url.options.find("token_file");
  const auto variable = url.options.find("token_env");
  const bool has_file = file != url.options.end();
  const bool has_variable = variable != url.options.end();
  if (has_file && has_variable) {
    return fail(Errc::bad_input, "store: give token_file or token_env, not both");
  }
  if (has_file) return from_file(file->second);
  if (has_variable) return from_environment(variable->second);
  return Token{.secret = {}, .where = "no token (token_file or token_env)"};
}

}  // namespace holdfast::backends::remote
