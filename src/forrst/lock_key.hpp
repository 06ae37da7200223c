// SPDX-License-Identifier: Apache-2.0
//
// The letters that keys are made of.
#pragma once

#include <holdfast/error.hpp>

#include <string_view>

namespace holdfast::forrst {

// Keys with it belong to what the PHP server keeps beside a lock.
inline constexpr std::string_view beside_a_lock = ":meta:";

// Letters, digits and -_:.
bool has_key_letters_only(std::string_view text);

// How the names of locks begin. Errors: bad_input with the rule.
Result<void> check_prefix(std::string_view prefix);

}  // namespace holdfast::forrst
