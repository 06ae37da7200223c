// SPDX-License-Identifier: Apache-2.0
#include "backends/redis/dialect.hpp"

#include "backends/redis/tokens.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace holdfast::backends::redis {

namespace {

constexpr std::uint32_t seconds = 1000;

constexpr Profile profiles[] = {
    {"valkey", "plain", "plain", "lock:*", Token::hex},
    {"redisx", "plain", "plain", "_lock:*", Token::redisx},
    {"forrst", "plain", "forrst", "forrst_lock:*", Token::uuid, seconds},
    {"laravel", "plain", "forrst", "laravel-database-laravel-cache-*", Token::alphanumeric,
     seconds},
    {"redlock-js", "plain", "plain", "*", Token::hex},
    {"redsync", "plain", "plain", "*", Token::base64},
    {"redis-py", "plain", "plain", "*", Token::hex},
    {"redis-semaphore", "plain", "plain", "mutex:*", Token::uuid},
    {"n8n", "counter", "counter", "n8n-lock-*", Token::uuid, seconds},
    {"redisson", "reentrant_hash", "redisson", "*", Token::redisson},
    {"valkey", "reentrant_hash", "client_count", "lock:*", Token::hex},
};

constexpr std::string_view native_before = "hf:{";
constexpr std::string_view native_after = "}";
constexpr std::string_view state_before = "{";
constexpr std::string_view state_after = "}:hf";
// Beside a counter.
constexpr std::string_view text_after = ":meta";
// Beside a lock of PHP's Forrst server: who holds it, since when and until when.
constexpr std::string_view before_any_text = ":meta:";
constexpr std::string_view texts_after[] = {":meta:owner", ":meta:acquired_at", ":meta:expires_at"};
// What the names of its locks begin with, in its code and in its specification.
constexpr std::string_view forrst_names[] = {"forrst_lock:", "lock:"};

std::optional<LockName> between(std::string_view key, std::string_view before,
                                std::string_view after) {
  if (key.size() < before.size() + after.size() || !key.starts_with(before) ||
      !key.ends_with(after)) {
    return std::nullopt;
  }
  auto name = LockName::make(key.substr(before.size(), key.size() - before.size() - after.size()));
  if (!name) return std::nullopt;
  return std::move(*name);
}

std::string names_of(auto member) {
  std::vector<std::string_view> seen;
  for (const Profile& profile : profiles) {
    if (std::ranges::find(seen, profile.*member) == seen.end()) seen.push_back(profile.*member);
  }
  return fmt::format("{}", fmt::join(seen, ", "));
}

// The characters that mean something in a pattern of Redis stand for themselves.
std::string literal(std::string_view text) {
  std::string pattern;
  for (const char c : text) {
    if (std::string_view("*?[]\\^").find(c) != std::string_view::npos) pattern += '\\';
    pattern += c;
  }
  return pattern;
}

}  // namespace

std::span<const Profile> known_profiles() { return profiles; }

Result<Dialect> Dialect::make(std::string_view dialect, std::string_view profile,
                              std::string_view key) {
  if (dialect == "native" || (dialect.empty() && profile.empty())) {
    if (profile.empty() && key.empty()) return Dialect();
    return fail(
        Errc::bad_input,
        "store: options 'profile', 'prefix' and 'template' need a dialect of other programs");
  }
  const auto* const found = std::ranges::find_if(profiles, [&](const Profile& known) {
    return (dialect.empty() || known.dialect == dialect) &&
           (profile.empty() || known.name == profile);
  });
  if (found == std::end(profiles)) {
    return fail(
        Errc::bad_input,
        fmt::format("store: no profile '{}' of dialect '{}'; dialects are native, {}; "
                    "profiles are {}",
                    profile, dialect, names_of(&Profile::dialect), names_of(&Profile::name)));
  }
  Dialect out;
  out.profile_ = *found;
  const std::string_view where = key.empty() ? found->key : key;
  const auto star = where.find('*');
  if (star == std::string_view::npos || where.find('*', star + 1) != std::string_view::npos) {
    return fail(Errc::bad_input, "store: option 'template' must have one * where the name goes");
  }
  out.before_ = where.substr(0, star);
  out.after_ = where.substr(star + 1);
  return out;
}

std::string Dialect::shared_key(const LockName& name) const {
  return fmt::format("{}{}{}", before_, name.str(), after_);
}

std::string Dialect::state_key(const LockName& name) const {
  std::string key;
  append_state_key(key, name);
  return key;
}

void Dialect::append_state_key(std::string& out, const LockName& name) const {
  if (is_native())
    out.append(native_before).append(name.str()).append(native_after);
  else
    out.append(state_before).append(shared_key(name)).append(state_after);
}

std::optional<LockName> Dialect::name_of_state_key(std::string_view key) const {
  if (is_native()) return between(key, native_before, native_after);
  return between(key, std::string(state_before) + before_, after_ + std::string(state_after));
}

std::vector<std::string> Dialect::shared_keys(const LockName& name) const {
  if (is_native()) return {};
  const std::string key = shared_key(name);
  std::vector<std::string> keys{key};
  if (profile_.dialect == "counter") keys.push_back(key + std::string(text_after));
  if (describes(name)) {
    for (const auto after : texts_after) keys.push_back(key + std::string(after));
  }
  return keys;
}

// What PHP's server writes beside a lock says nothing about whether it is free.
std::vector<std::string> Dialect::tracked_keys(const LockName& name) const {
  auto keys = shared_keys(name);
  if (describes(name)) keys.resize(1);
  return keys;
}

bool Dialect::describes(const LockName& name) const {
  if (profile_.script != "forrst") return false;
  // Laravel's other locks have nothing beside them.
  return profile_.name == "forrst" || std::ranges::any_of(forrst_names, [&](auto beginning) {
           return name.str().starts_with(beginning);
         });
}

std::string_view Dialect::first_shared_key(std::string_view key) const {
  const bool is_text = profile_.dialect == "counter" && key.ends_with(text_after);
  return is_text ? key.substr(0, key.size() - text_after.size()) : key;
}

Result<void> Dialect::admits(const LockName& name) const {
  if (profile_.script == "forrst" && name.str().find(before_any_text) != std::string::npos) {
    return fail(Errc::bad_input,
                fmt::format("name must not contain '{}' in the profile {}: its key could be a text "
                            "beside another lock",
                            before_any_text, profile_.name));
  }
  if (profile_.dialect != "counter") return {};
  const auto key = shared_key(name);
  if (first_shared_key(key) == key) return {};
  return fail(
      Errc::bad_input,
      fmt::format("name must not end in '{}' in the dialect {}: its key would be the text of "
                  "another lock",
                  text_after, profile_.dialect));
}

std::optional<LockName> Dialect::name_of_shared_key(std::string_view key) const {
  return between(key, before_, after_);
}

std::string Dialect::scan_pattern(std::string_view prefix) const {
  if (is_native()) return fmt::format("{}{}*{}", native_before, literal(prefix), native_after);
  const auto shared = fmt::format("{}{}*{}", literal(before_), literal(prefix), literal(after_));
  return scans_shared_keys() ? shared : fmt::format("{}{}{}", state_before, shared, state_after);
}

std::string_view Dialect::scan_type() const {
  return scans_shared_keys() && profile_.dialect == "reentrant_hash" ? "hash" : "string";
}

std::optional<LockName> Dialect::name_of_scanned(std::string_view key) const {
  if (!scans_shared_keys()) return name_of_state_key(key);
  auto name = name_of_shared_key(key);
  // What lies beside a lock is none.
  if (!name || !admits(*name)) return std::nullopt;
  return name;
}

OwnerId Dialect::fresh_owner(runtime::Runtime& runtime) const {
  return make_token(profile_.token, runtime);
}

Result<void> Dialect::supports(const model::LockSpec& spec) const {
  if (is_native()) return {};
  if (profile_.dialect == "reentrant_hash") {
    if (spec.kind == Kind::reentrant) return {};
    return fail(Errc::unsupported,
                "the dialect reentrant_hash shares one owner and its depth: only re-entrant locks");
  }
  if (spec.kind == Kind::mutex) return {};
  return fail(Errc::unsupported, fmt::format("the dialect {} shares one exclusive holder: only "
                                             "mutexes",
                                             profile_.dialect));
}

}  // namespace holdfast::backends::redis
