// SPDX-License-Identifier: Apache-2.0
#include "server/services.hpp"

namespace holdfast::server {

namespace {
WallTime wall_now() { return std::chrono::floor<Micros>(std::chrono::system_clock::now()); }
}  // namespace

Services::Services(ServerOptions options, std::shared_ptr<client::Core> core)
    : waiting(options.limits.max_waiters_per_name, options.limits.max_waiters),
      rates(options.limits.token_requests_per_s),
      events(options.limits.kept_events, first_event_id(wall_now())),
      options_(std::move(options)),
      core_(std::move(core)),
      request_id_(core_->runtime().random()) {}

std::uint64_t Services::next_request_id() {
  const auto id = request_id_.fetch_add(1, std::memory_order_relaxed);
  return id == 0 ? 1 : id;
}

std::shared_ptr<const Tokens> Services::tokens() const {
  const std::lock_guard lock(mutex_);
  return tokens_;
}

void Services::set_tokens(std::shared_ptr<const Tokens> tokens) {
  const std::lock_guard lock(mutex_);
  tokens_ = std::move(tokens);
}

}  // namespace holdfast::server
