// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace holdfast::cli {

// The word among those known that was probably meant, as "; did you mean 'status'?", or nothing.
std::string did_you_mean(std::string_view word, std::span<const std::string> known);

}  // namespace holdfast::cli
