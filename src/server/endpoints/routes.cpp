// SPDX-License-Identifier: Apache-2.0
//
// The only file that names every group of endpoints.
#include "server/endpoints/routes.hpp"

namespace holdfast::server {

extern const std::span<const Route> acquire_routes;
extern const std::span<const Route> lease_routes;
extern const std::span<const Route> lock_routes;

const Router& all_routes() {
  static const Router router = [] {
    Router table;
    for (const auto& group : {acquire_routes, lease_routes, lock_routes}) table.add(group);
    return table;
  }();
  return router;
}

}  // namespace holdfast::server
