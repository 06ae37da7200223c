// SPDX-License-Identifier: Apache-2.0
//
// The URL of a store, or of several: taken apart or refused, and no password ever in what is shown
// of it.
#include "text/quorum_url.hpp"

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

// Decoded as it is; where it was encoded, what is shown does not have it in this form.
void check_parts(const holdfast::text::StoreUrl& url, const std::string& shown) {
  check(!url.scheme.empty());
  for (const auto& part : {url.scheme, url.user, url.password, url.path}) check(is_clean(part));
  for (const auto& [name, value] : url.options) check(is_clean(name) && is_clean(value));
  const bool is_hidden =
      url.password.empty() || url.password == "***" || !shown.contains(":" + url.password + "@");
  check(is_hidden);
}

void check_refusal(const holdfast::Error& error) {
  check(error.code == holdfast::Errc::bad_input && !error.message.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto shown = holdfast::text::masked(text);
  if (holdfast::text::is_quorum_url(text)) {
    const auto url = holdfast::text::parse_quorum_url(text);
    if (!url) check_refusal(url.error());
    for (std::size_t at = 0; url && at < url->members.size(); ++at) {
      check_parts(url->members[at], shown);
    }
    return 0;
  }
  const auto url = holdfast::text::parse_store_url(text);
  if (url)
    check_parts(*url, shown);
  else
    check_refusal(url.error());
  return 0;
}
