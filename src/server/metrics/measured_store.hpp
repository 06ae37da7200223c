// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/metrics/metrics.hpp"
#include "store/store.hpp"

#include <memory>

namespace holdfast::server {

// The same store, with a watch: how long its answers take, and what they are.
std::shared_ptr<store::Store> measured(std::shared_ptr<store::Store> store,
                                       std::shared_ptr<StoreMetrics> metrics);

}  // namespace holdfast::server
