// SPDX-License-Identifier: Apache-2.0
//
// A store's URL may say where its password is instead of what it is: `password_file=/run/secret` or
// `password_env=NAME`.
#pragma once

#include <holdfast/error.hpp>

#include "text/url.hpp"

#include <cstddef>

namespace holdfast::text {

inline constexpr std::size_t max_password_bytes = 4096;

// Takes both options out of the URL and puts the password that they lead to in its place; a URL
// with neither stays as it is. One line end behind the password does not belong to it. For schemes
// that have a password; the others know no such option. Errors: bad_input, which names the file or
// the variable and never what is in it.
Result<void> find_password(StoreUrl& url);

}  // namespace holdfast::text
