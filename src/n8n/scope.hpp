// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/error.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace holdfast::n8n {

// What a person writes for a scope, as n8n evaluates it.
struct ScopeExpression {
  std::string text;                   // ={{ 'excel-' + $json.fileId }}, =api-{{ $json.userId }}
  std::optional<std::string> fixed;   // the scope itself, where it does not depend on the data
  std::optional<std::string> remark;  // what was made of it, if it was not written like that
};

// Kept: ={{ x }} and the mixed form =a-{{ x }}. Made whole: =x becomes ={{ x }}, a-{{ x }} becomes
// =a-{{ x }}, and a plain word w becomes ={{ "w" }}. Errors: bad_input for an empty one, for braces
// that do not match, and for a scope that ends in ":meta".
Result<ScopeExpression> normalise_scope(std::string_view written);

// The scope that an expression always has: ={{ "x" }}, ={{ 'x' }}, ={{ `x` }} without ${, or x.
std::optional<std::string> fixed_scope(std::string_view expression);

}  // namespace holdfast::n8n
