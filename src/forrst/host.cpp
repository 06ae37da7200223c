// SPDX-License-Identifier: Apache-2.0
#include "forrst/host.hpp"

#include "runtime/log.hpp"

#include <fmt/format.h>

namespace holdfast::forrst {

namespace {

// A name that nobody locks: the store only has to answer.
constexpr std::string_view probe_name = "holdfast-forrst-health";

}  // namespace

Task<client::TakeResult> Host::take(std::shared_ptr<client::Core> core, const Caller&,
                                    client::Wanted wanted, std::stop_token stop) {
  if (wanted.wait == Micros::zero()) {
    return client::take_at_once(std::move(core), std::move(wanted), std::move(stop));
  }
  return client::take_waiting(std::move(core), std::move(wanted), std::move(stop));
}

void Host::ended(const Caller&, const client::Wanted&, Fence, LockEnd) {}
void Host::renewed(const Caller&, std::string_view, Fence) {}
void Host::answered(std::string_view, std::string_view) {}
void Host::began(const Caller&, const LockName&, const model::RunOutcome&) {}

Task<std::vector<Component>> Host::components(std::shared_ptr<client::Core> core) {
  const auto began = core->runtime().now();
  auto asking = core->store().apply({.name = LockName::make(probe_name).value(),
                                     .command = model::LockCommand{{}, model::Inspect{}},
                                     .deadline = began + client::command_timeout});
  const Result<store::Reply> reply = co_await std::move(asking);
  Component store{.name = "store", .is_well = reply.has_value()};
  if (!reply) store.message = "the store does not answer";
  store.latency = std::chrono::duration_cast<Duration>(core->runtime().now() - began);
  co_return std::vector{std::move(store)};
}

void Host::complain(std::string_view what, std::string_view why) {
  runtime::log_warning(fmt::format("forrst: {}: {}", what, why));
}

}  // namespace holdfast::forrst
