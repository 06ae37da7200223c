// SPDX-License-Identifier: Apache-2.0
//
// The pattern that needs several stores: the lock is held where a majority of them grants it.
#pragma once

#include "server/endpoints/patterns/single.hpp"

namespace holdfast::server::patterns {

// As run_single, on the members of server.patterns.redlock.store.
Task<Response> run_redlock(Job job);

}  // namespace holdfast::server::patterns
