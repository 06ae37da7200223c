// SPDX-License-Identifier: Apache-2.0
#include "server/auth/token_edit.hpp"

#include "server/auth/locked_file.hpp"
#include "server/auth/token_file.hpp"
#include "server/auth/token_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace holdfast::server {
namespace {

struct Opened {
  LockedFile file;
  std::string text;
  std::vector<TokenEntry> entries;
};

// A file with a mistake in it is not touched: what was meant is for a person to say.
Result<Opened> open(const std::string& path, LockedFile::IfMissing if_missing) {
  auto file = LockedFile::open(path, if_missing, edit_patience);
  if (!file) return std::unexpected(std::move(file.error()));
  auto text = read_token_file(file->fd(), path);
  if (!text) return std::unexpected(std::move(text.error()));
  auto entries = parse_token_file(*text, path);
  if (!entries) return std::unexpected(std::move(entries.error()));
  return Opened{std::move(*file), std::move(*text), std::move(*entries)};
}

// Without the line, counted from 1, and its end.
std::string without_line(std::string_view text, std::size_t number) {
  std::size_t begin = 0;
  for (; number > 1; --number) begin = text.find('\n', begin) + 1;
  const auto end = std::min(text.find('\n', begin), text.size() - 1) + 1;
  return std::string(text.substr(0, begin)) + std::string(text.substr(end));
}

}  // namespace

Result<void> add_token(const std::string& path, const Principal& principal) {
  auto opened = open(path, LockedFile::IfMissing::make);
  if (!opened) return std::unexpected(std::move(opened.error()));
  const auto is_same = [&](const TokenEntry& entry) {
    return entry.principal.name == principal.name;
  };
  if (const auto same = std::ranges::find_if(opened->entries, is_same);
      same != opened->entries.end()) {
    return fail(Errc::bad_input,
                fmt::format("{}:{}: has a token called {} already; revoke it, or choose another "
                            "name",
                            path, same->line, principal.name));
  }
  auto& text = opened->text;
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  text += format_token_line(principal) + '\n';
  // The limits are those of whoever reads it.
  if (auto entries = parse_token_file(text, path); !entries) {
    return std::unexpected(std::move(entries.error()));
  }
  return opened->file.replace(text);
}

Result<void> revoke_token(const std::string& path, std::string_view name) {
  auto opened = open(path, LockedFile::IfMissing::refuse);
  if (!opened) return std::unexpected(std::move(opened.error()));
  const auto is_it = [&](const TokenEntry& entry) { return entry.principal.name == name; };
  const auto found = std::ranges::find_if(opened->entries, is_it);
  if (found == opened->entries.end()) {
    return fail(Errc::bad_input, fmt::format("{}: has no token called {}", path, name));
  }
  return opened->file.replace(without_line(opened->text, found->line));
}

}  // namespace holdfast::server
