// SPDX-License-Identifier: Apache-2.0
#include "cli/context.hpp"

#include "text/url.hpp"

#include <fmt/format.h>

#include <chrono>

namespace holdfast::cli {
namespace {

using std::chrono::steady_clock;

// Stores begin with their peer, which the URL has said already.
std::string_view without_peer(std::string_view message, const text::StoreUrl& url) {
  for (const auto& endpoint : url.endpoints) {
    const auto peer = message.find(endpoint.host);
    const auto end = message.find(' ');
    const bool is_label = end != std::string_view::npos && end > 0 && message[end - 1] == ':';
    if (is_label && peer < end) return message.substr(end + 1);
  }
  return message;
}

Error unreachable(const Error& error, const Setting<std::string>& store, steady_clock::duration t) {
  const auto tried = std::chrono::duration_cast<std::chrono::milliseconds>(t);
  const auto url = text::parse_store_url(store.value);
  const auto shown = text::masked(store.value);
  std::string_view reason = url ? without_peer(error.message, *url) : error.message;
  for (const auto& said : {shown + ": ", std::string("redlock: ")}) {
    if (reason.starts_with(said)) reason.remove_prefix(said.size());
  }
  return {error.code,
          fmt::format("{} cannot be reached: {} (tried for {} ms)", shown, reason, tried.count())};
}

// The option or variable to correct.
Error with_origin(const Error& error, const Setting<std::string>& store) {
  std::string_view reason = error.message;
  if (reason.starts_with("store: ")) reason.remove_prefix(7);
  return {error.code, fmt::format("{}: {}", store.origin, reason)};
}

}  // namespace

Result<Settings> Context::settings() {
  if (!settings_) settings_ = load_settings(sources_);
  return *settings_;
}

Result<void> Context::change_store(std::string (*change)(std::string_view)) {
  if (auto good = settings(); !good) return std::unexpected(std::move(good.error()));
  auto& store = (*settings_)->store.value;
  store = change(store);
  return {};
}

Result<Client> Context::open_store() {
  auto settings = this->settings();
  if (!settings) return std::unexpected(std::move(settings.error()));
  const auto& store = settings->store;
  const auto begin = steady_clock::now();
  auto client = holdfast::open(store.value);
  if (client) return client;
  const auto& error = client.error();
  if (error.code == Errc::unavailable || error.code == Errc::quorum_not_reached) {
    return std::unexpected(unreachable(error, store, steady_clock::now() - begin));
  }
  return std::unexpected(with_origin(error, store));
}

}  // namespace holdfast::cli
