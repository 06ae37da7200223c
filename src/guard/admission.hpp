// SPDX-License-Identifier: Apache-2.0
//
// What can be said of a request before anybody is asked.
#pragma once

#include <holdfast/names.hpp>

#include "guard/options.hpp"

#include <expected>
#include <optional>

namespace holdfast::guard {

inline constexpr std::string_view fence_header = "Holdfast-Fence";

// Why a request is not passed on, as the answer to it.
struct Refusal {
  int status = 400;
  std::string code;
  std::string message;
};

// The fence of a request that may be passed on if it is new enough; nothing for one that needs
// none.
std::expected<std::optional<Fence>, Refusal> admit(const Options& options,
                                                   const net::http::Request& request);

}  // namespace holdfast::guard
