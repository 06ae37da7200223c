// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/redis/dialect.hpp"

namespace holdfast::backends::redis {

// A fresh owner in the form that other programs use. All of them are at least 75 random bits, from
// the runtime's secure source.
OwnerId make_token(Token form, runtime::Runtime& runtime);

}  // namespace holdfast::backends::redis
