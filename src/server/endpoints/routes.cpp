// SPDX-License-Identifier: Apache-2.0
//
// The only file that names every group of endpoints.
#include "server/endpoints/routes.hpp"

namespace holdfast::server {

extern const std::span<const Route> acquire_routes;
extern const std::span<const Route> acquire_all_routes;
extern const std::span<const Route> lease_routes;
extern const std::span<const Route> lock_routes;
extern const std::span<const Route> timeline_routes;
extern const std::span<const Route> session_routes;
extern const std::span<const Route> fence_routes;
extern const std::span<const Route> rate_limit_routes;
extern const std::span<const Route> idempotency_routes;
extern const std::span<const Route> event_routes;
extern const std::span<const Route> trail_routes;
extern const std::span<const Route> stats_routes;
extern const std::span<const Route> me_routes;
extern const std::span<const Route> pattern_routes;
extern const std::span<const Route> n8n_lock_routes;
extern const std::span<const Route> n8n_rate_routes;
extern const std::span<const Route> n8n_clean_up_routes;
extern const std::span<const Route> forrst_routes;
extern const std::span<const Route> store_apply_routes;
extern const std::span<const Route> store_look_routes;
extern const std::span<const Route> health_routes;
extern const std::span<const Route> docs_routes;
extern const std::span<const Route> dashboard_routes;

const Router& all_routes() {
  static const Router router = [] {
    Router table;
    for (const auto& group : {
             acquire_routes,      acquire_all_routes, lease_routes,       lock_routes,
             timeline_routes,     session_routes,     fence_routes,       rate_limit_routes,
             idempotency_routes,  event_routes,       trail_routes,       stats_routes,
             me_routes,           pattern_routes,     n8n_lock_routes,    n8n_rate_routes,
             n8n_clean_up_routes, forrst_routes,      store_apply_routes, store_look_routes,
             health_routes,       docs_routes,        dashboard_routes,
         }) {
      table.add(group);
    }
    return table;
  }();
  return router;
}

}  // namespace holdfast::server
