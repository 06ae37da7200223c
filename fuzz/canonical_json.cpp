// SPDX-License-Identifier: Apache-2.0
//
// The canonical form of JSON is its own canonical form.
#include "text/canonical_json.hpp"

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace holdfast;
  const auto once = text::canonical_json({reinterpret_cast<const char*>(data), size});
  if (!once) {
    if (once.error().code != Errc::bad_input || once.error().message.empty()) std::abort();
    return 0;
  }
  const auto twice = text::canonical_json(*once);
  if (!twice || *twice != *once) std::abort();
  return 0;
}
