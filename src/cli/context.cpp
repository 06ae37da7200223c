// SPDX-License-Identifier: Apache-2.0
#include "cli/context.hpp"

namespace holdfast::cli {

Result<Settings> Context::settings() {
  if (!settings_) settings_ = load_settings(sources_);
  return *settings_;
}

Result<Client> Context::open_store() {
  auto settings = this->settings();
  if (!settings) return std::unexpected(std::move(settings.error()));
  return holdfast::open(settings->store.value);
}

}  // namespace holdfast::cli
