// SPDX-License-Identifier: Apache-2.0
#include "cli/settings.hpp"

#include <cstdlib>

namespace holdfast::cli {

Result<Settings> load_settings(const SettingSources& sources) {
  Settings settings{.store = {"file:", "default"}, .ttl = {default_ttl, "default"}, .wait = {}};
  if (const char* store = std::getenv("HOLDFAST_STORE"); store != nullptr && *store != '\0') {
    settings.store = {store, "HOLDFAST_STORE"};
  }
  if (!sources.store.empty()) settings.store = {sources.store, "--store"};
  return settings;
}

}  // namespace holdfast::cli
