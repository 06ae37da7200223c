// SPDX-License-Identifier: Apache-2.0
#include "backends/redis/scripts.hpp"

#include "backends/redis/lua_files.hpp"

#include <fmt/format.h>
#include <openssl/sha.h>

#include <algorithm>
#include <cassert>
#include <initializer_list>
#include <iterator>

namespace holdfast::backends::redis {

namespace {

std::string_view lua_file(std::string_view name) {
  const auto* const found = std::ranges::find(lua_files, name, [](const auto& f) { return f.first; });
  assert(found != std::end(lua_files));
  return found->second;
}

// Redis names a script by the SHA-1 of its text.
std::string sha1_of(std::string_view text) {
  unsigned char digest[SHA_DIGEST_LENGTH];
  SHA1(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest);
  return fmt::format("{:02x}", fmt::join(digest, ""));
}

}  // namespace

Scripts::Scripts(const Options& options) : audited_(options.audit > 0) {
  const bool native = options.dialect.empty();
  // Only Holdfast's own layout without an audit trail is simple enough for a shortcut.
  const bool shortcuts = native && options.audit == 0;
  const std::string dialect =
      native ? "dialects/native" : fmt::format("dialects/{}", options.dialect);
  const std::string settings = fmt::format(
      "local AUDIT = {}\n", options.audit > 0 ? std::to_string(options.audit) : std::string("nil"));

  const auto put_together = [&](Script script, std::string_view shortcut, std::string_view verb) {
    std::string text(options.prelude);
    if (shortcuts && !shortcut.empty()) text += lua_file(shortcut);
    text += settings;
    const std::string_view parts[] = {"state", dialect, "audit", "queue", "step"};
    for (const auto part : parts) text += lua_file(part);
    text += lua_file(verb);
    auto& source = sources_[static_cast<std::size_t>(script)];
    source.sha1 = sha1_of(text);
    source.text = std::move(text);
  };
  put_together(Script::acquire, "acquire_shortcut", "acquire");
  put_together(Script::renew, "renew_shortcut", "renew");
  put_together(Script::release, "release_shortcut", "release");
  put_together(Script::force_release, {}, "force_release");

  auto& inspect = sources_[static_cast<std::size_t>(Script::inspect)];
  inspect.text = fmt::format("{}{}", options.prelude, lua_file("inspect"));
  inspect.sha1 = sha1_of(inspect.text);
}

}  // namespace holdfast::backends::redis
