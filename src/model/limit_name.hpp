// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/names.hpp>
#include <holdfast/rates.hpp>

#include <optional>
#include <string_view>

namespace holdfast::model {

// What is counted under a name of limit_name, without how: the scope, or the scope as another
// program's keys have it ("n8n-ratelimit-api"). It is what a token's prefixes have to cover.
// Nothing, if limit_name never makes this name of this rule. A view into `name`.
std::optional<std::string_view> counted_under(const LockName& name, const RateRule& rule);

}  // namespace holdfast::model
