// SPDX-License-Identifier: Apache-2.0
#include "server/forrst/offer.hpp"

#include "server/forrst/command_function.hpp"
#include "server/forrst/host.hpp"
#include "server/forrst/upstream_function.hpp"
#include "server/options.hpp"
#include "server/services.hpp"

namespace holdfast::server {

namespace {

Result<forrst::Function> function_of(const ForrstFunction& configured, Services& services) {
  auto function = configured.about;
  if (!configured.command.empty()) {
    function.handler = command_function(configured.command);
    return function;
  }
  auto handler = upstream_function(services.core().shared_runtime(), configured.upstream);
  if (!handler) return std::unexpected(std::move(handler.error()));
  function.async_handler = std::move(*handler);
  return function;
}

forrst::ServiceOptions options_of(const ForrstOptions& options) {
  return {.name = options.name,
          .version = HOLDFAST_VERSION,
          .node = options.node,
          .prefix = options.prefix,
          .status_owner = options.status_owner,
          .is_strict = options.strict_extensions,
          .threads = options.command_threads,
          .rate_limit = options.rate_limit};
}

}  // namespace

Result<std::shared_ptr<const forrst::Service>> offer_forrst(Services& services) {
  const auto& options = services.options().forrst;
  auto made = forrst::Service::make(Client(services.forrst_core), options_of(options),
                                    std::make_shared<ServerHost>(services));
  if (!made) return fail(made.error().code, "server.forrst: " + made.error().message);
  for (const auto& each : options.functions) {
    auto function = function_of(each, services);
    const auto added = function ? made->add(std::move(*function))
                                : Result<void>(std::unexpected(function.error()));
    if (added) continue;
    return fail(added.error().code,
                "server.forrst.functions: " + each.about.name + ": " + added.error().message);
  }
  return std::make_shared<const forrst::Service>(std::move(*made));
}

}  // namespace holdfast::server
