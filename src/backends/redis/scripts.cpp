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

// After its last event a trail is kept for a day.
constexpr std::uint32_t keep_audit_ms = 24 * 60 * 60 * 1000;

std::string_view lua_file(std::string_view name) {
  const auto* const found =
      std::ranges::find(lua_files, name, [](const auto& f) { return f.first; });
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
  std::string state = fmt::format("local AUDIT, AUDIT_MS, UNIT_MS = {}, {}, {}\n",
                                  audited_ ? std::to_string(options.audit) : std::string("nil"),
                                  keep_audit_ms, options.unit_ms);
  for (const auto part : {"header", "state", "audit"}) state += lua_file(part);
  if (native) {
    state += lua_file("dialects/native");
  } else {
    state += lua_file("dialects/shared");
    state += lua_file("dialects/calendar");
    state += lua_file(fmt::format("dialects/{}", options.dialect));
    state += lua_file("dialects/mirror");
  }

  const auto add = [&](Script script, std::string text) {
    auto& source = sources_[static_cast<std::size_t>(script)];
    source.text = std::string(options.prelude) + std::move(text);
    source.sha1 = sha1_of(source.text);
  };
  using Parts = std::initializer_list<std::string_view>;
  const auto put_together = [&](Script script, Parts shortcuts_first, std::string_view verb) {
    std::string text;
    for (const auto shortcut : shortcuts ? shortcuts_first : Parts{}) text += lua_file(shortcut);
    text += state;
    for (const auto part : {std::string_view("queue"), std::string_view("step"), verb}) {
      text += lua_file(part);
    }
    add(script, std::move(text));
  };
  put_together(Script::acquire, {"acquire_shortcut", "acquire_in_company"}, "acquire");
  put_together(Script::renew, {"renew_shortcut"}, "renew");
  put_together(Script::release, {"release_shortcut", "release_in_company"}, "release");
  put_together(Script::force_release, {}, "force_release");
  add(Script::inspect, state + std::string(lua_file("inspect")));
  add(Script::check_fence, std::string(lua_file("check_fence")));
  // The first letter of a state tells its algorithm.
  const auto add_rate = [&](Script script, std::string_view form, std::string_view algorithm) {
    add(script, fmt::format("local FORM = '{}'\n{}{}{}", form, lua_file("rates/read"),
                            lua_file(algorithm), lua_file("rates/write")));
  };
  add_rate(Script::fixed_window, "f", "rates/fixed_window");
  add_rate(Script::sliding_window, "s", "rates/sliding_window");
  add_rate(Script::token_bucket, "b", "rates/token_bucket");
  add(Script::shared_window, std::string(lua_file("rates/shared_window")));
  add(Script::run, std::string(lua_file("idempotency")));
  add(Script::raise_fence, std::string(lua_file("raise_fence")));
}

}  // namespace holdfast::backends::redis
