// SPDX-License-Identifier: Apache-2.0
#include <holdfast/forrst/service.hpp>

#include "forrst/engine.hpp"
#include "forrst/host.hpp"
#include "forrst/lock_key.hpp"
#include "model/rate_limit.hpp"
#include "runtime/spawn.hpp"

#include <fmt/format.h>

namespace holdfast::forrst {

namespace {

constexpr std::size_t max_name_of_service = 200;
constexpr unsigned max_threads = 256;
constexpr Duration max_remembering = std::chrono::hours(24);

Result<void> check(const ServiceOptions& options) {
  if (const auto good = check_prefix(options.prefix); !good) {
    return fail(Errc::bad_input, "prefix: " + good.error().message);
  }
  if (options.name.empty() || options.name.size() > max_name_of_service) {
    return fail(Errc::bad_input, fmt::format("name: must be 1 to {} bytes", max_name_of_service));
  }
  if (options.threads < 1 || options.threads > max_threads) {
    return fail(Errc::bad_input, fmt::format("threads: must be from 1 to {}", max_threads));
  }
  if (options.remember_released < Duration::zero() || options.remember_released > max_remembering) {
    return fail(Errc::bad_input, "remember_released: must be from 0s to 24h");
  }
  if (options.rate_limit) {
    const auto good = model::admissible(model::RateCommand{.rule = *options.rate_limit});
    if (!good) return fail(Errc::bad_input, "rate_limit: " + good.error().message);
  }
  return {};
}

Fault cannot_block() {
  return {.code = std::string(codes::internal_error), .message = "The service cannot answer here"};
}

}  // namespace

Result<Service> Service::make(const Client& client, ServiceOptions options) {
  return make(client, std::move(options), std::make_shared<Host>());
}

Result<Service> Service::make(const Client& client, ServiceOptions options,
                              std::shared_ptr<Host> host) {
  if (auto good = check(options); !good) return std::unexpected(std::move(good.error()));
  return Service(std::make_shared<Engine>(client.core(), std::move(options), std::move(host)));
}

Result<void> Service::add(Function function) {
  return engine_->registry().add(std::move(function));
}

Reply Service::handle(std::string_view body, Caller caller, std::stop_token stop) const {
  if (!engine_->core().may_block()) return engine_->refuse(500, cannot_block());
  return runtime::run_blocking(engine_->answer(body, std::move(caller), std::move(stop)));
}

Task<Reply> Service::answer(std::string_view body, Caller caller, std::stop_token stop) const {
  return engine_->answer(body, std::move(caller), std::move(stop));
}

Reply Service::refuse(int status, const Fault& fault) const {
  return engine_->refuse(status, fault);
}

}  // namespace holdfast::forrst
