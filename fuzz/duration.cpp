// SPDX-License-Identifier: Apache-2.0
//
// A duration that is read is written so that it is read as the same.
#include "text/duration.hpp"

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace holdfast;
  const auto read = text::parse_duration({reinterpret_cast<const char*>(data), size});
  if (!read) {
    if (read.error().message.empty()) std::abort();
    return 0;
  }
  if (*read < Duration::zero()) std::abort();
  const auto whole = std::chrono::duration_cast<std::chrono::milliseconds>(*read);
  const auto again = text::parse_duration(text::format_duration(whole));
  if (!again || *again != *read) std::abort();
  return 0;
}
