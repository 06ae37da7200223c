// SPDX-License-Identifier: Apache-2.0
//
// The URL of a store: taken apart or refused, and its password never in what is shown of it.
#include "text/url.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace {

void check(bool good) {
  if (!good) std::abort();
}

bool is_clean(std::string_view text) {
  return std::ranges::none_of(
      text, [](char each) { return static_cast<unsigned char>(each) < 0x20 || each == 0x7f; });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto shown = holdfast::text::masked(text);
  const auto url = holdfast::text::parse_store_url(text);
  if (!url) {
    check(url.error().code == holdfast::Errc::bad_input && !url.error().message.empty());
    return 0;
  }
  check(!url->scheme.empty());
  for (const auto& part : {url->scheme, url->user, url->password, url->path}) check(is_clean(part));
  for (const auto& [name, value] : url->options) check(is_clean(name) && is_clean(value));
  const bool is_hidden =
      url->password.empty() || url->password == "***" || !shown.contains(":" + url->password + "@");
  check(is_hidden);
  return 0;
}
