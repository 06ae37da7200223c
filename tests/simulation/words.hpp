// SPDX-License-Identifier: Apache-2.0
//
// What a history says of the answers of a client.
#pragma once

#include "history/history.hpp"
#include "holdfast/error.hpp"
#include "holdfast/lease.hpp"

namespace holdfast::simulation {

history::Detail detail_of(Errc code);
history::Detail detail_of(const Result<Released>& released);

}  // namespace holdfast::simulation
