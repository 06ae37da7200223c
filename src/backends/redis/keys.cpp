// SPDX-License-Identifier: Apache-2.0
#include "backends/redis/keys.hpp"

namespace holdfast::backends::redis {

namespace {
constexpr std::string_view opening = "hf:{";
}  // namespace

std::string native_key(const LockName& name) {
  std::string key;
  key.reserve(opening.size() + name.str().size() + 3);
  return key.append(opening).append(name.str()).append("}");
}

std::optional<LockName> name_of_native_key(std::string_view key) {
  if (!key.starts_with(opening) || !key.ends_with('}')) return std::nullopt;
  key.remove_prefix(opening.size());
  key.remove_suffix(1);
  auto name = LockName::make(key);
  if (!name) return std::nullopt;
  return std::move(*name);
}

}  // namespace holdfast::backends::redis
