// SPDX-License-Identifier: Apache-2.0
//
// JSON in one form, whatever order its keys came in: the form that NestJS RedisX takes its
// fingerprints of, and so the one that JavaScript would write.
#pragma once

#include <holdfast/error.hpp>

#include <string>
#include <string_view>

namespace holdfast::text {

inline constexpr std::size_t max_canonical_bytes = std::size_t{1024} * 1024;
inline constexpr std::size_t max_canonical_depth = 100;

// Without spaces; the keys of every object in the order of their UTF-16 code units, and of equal
// keys only the last; texts with the escapes they need and no others, a lone surrogate as its
// escape; numbers as doubles, printed as `js_number` does. Errors: bad_input with the rule and the
// byte: what is no JSON, is no UTF-8, has a number beyond the doubles, or is too long or too deep.
Result<std::string> canonical_json(std::string_view json);

// A finite double as JavaScript prints it: the fewest digits that give it back, and an exponent
// from 1e21 and below 1e-6. There is no negative zero.
std::string js_number(double number);

}  // namespace holdfast::text
