// SPDX-License-Identifier: Apache-2.0
#include "server/forrst/host.hpp"

#include "server/forrst/caller.hpp"
#include "server/journal.hpp"
#include "server/locks/grant.hpp"
#include "server/log.hpp"
#include "server/metrics/metrics.hpp"
#include "server/runs/run_answer.hpp"
#include "server/services.hpp"
#include "server/under_way.hpp"

namespace holdfast::server {

namespace {

EventType event_type_of(forrst::LockEnd how) {
  switch (how) {
    case forrst::LockEnd::released: return EventType::released;
    case forrst::LockEnd::forced: return EventType::forced;
    case forrst::LockEnd::lost: break;
  }
  return EventType::lost;
}

Task<std::vector<forrst::Component>> look(StoreProbe& probe) {
  auto looking = probe.look();
  const StoreProbe::Health health = co_await std::move(looking);
  forrst::Component store{.name = "store", .is_well = health.has_value()};
  if (health) {
    store.latency = *health;
  } else {
    store.message = "the store does not answer";
  }
  std::vector<forrst::Component> all;
  all.push_back(std::move(store));
  co_return all;
}

}  // namespace

ServerHost::ServerHost(Services& services) : services_(services) {
  if (services.forrst_core != services.shared_core()) own_probe_.emplace(services.forrst_core);
}

Task<client::TakeResult> ServerHost::take(std::shared_ptr<client::Core> core,
                                          const forrst::Caller& caller, client::Wanted wanted,
                                          std::stop_token stop) {
  Acquisition acquisition{services_, who_of(caller), {std::move(wanted)}, std::move(core)};
  return acquire(std::move(acquisition), std::move(stop));
}

// The observer looks at the server's own store: of another one's locks it must not hear.
void ServerHost::write_down(const forrst::Caller& caller, const Happening& happening) {
  const auto who = who_of(caller);
  if (services_.forrst_core == services_.shared_core()) {
    return services_.journal.record(who, happening);
  }
  if (happening.type == EventType::renewed) return;
  services_.journal.note(who, text::to_word(happening.type), happening.name, happening.reason);
}

void ServerHost::ended(const forrst::Caller& caller, const client::Wanted& wanted, Fence fence,
                       forrst::LockEnd how) {
  auto& metrics = services_.metrics();
  const auto held = metrics.holds.released(wanted.name.str(), wanted.owner.view(),
                                           services_.core().runtime().now());
  if (held && how == forrst::LockEnd::released) metrics.hold_time.add(held->time);
  if (fence == 0 && held) fence = held->fence;
  write_down(caller, {.type = event_type_of(how),
                      .name = wanted.name.str(),
                      .fence = fence != 0 ? std::optional(fence) : std::nullopt,
                      .held = held ? std::optional(held->time) : std::nullopt});
}

void ServerHost::renewed(const forrst::Caller& caller, std::string_view name, Fence fence) {
  write_down(caller, {.type = EventType::renewed, .name = name, .fence = fence});
}

void ServerHost::answered(std::string_view, std::string_view code) {
  services_.metrics().forrst.add(code);
}

void ServerHost::began(const forrst::Caller& caller, const LockName& name,
                       const model::RunOutcome& outcome) {
  count_begin(services_.metrics().runs, outcome);
  if (!outcome.done || outcome.found != RunFound::abandoned) return;
  services_.journal.note(who_of(caller), "run_taken_over", name.str(), "");
}

Task<std::vector<forrst::Component>> ServerHost::components(std::shared_ptr<client::Core>) {
  return look(own_probe_ ? *own_probe_ : services_.probe);
}

std::stop_token ServerHost::draining() { return services_.draining.get_token(); }

std::stop_token ServerHost::ending() { return services_.ending.get_token(); }

std::shared_ptr<void> ServerHost::under_way() { return std::make_shared<UnderWay>(services_); }

void ServerHost::complain(std::string_view what, std::string_view why) {
  log(LogLevel::warning, "forrst", {{"what", std::string(what)}, {"why", std::string(why)}});
}

}  // namespace holdfast::server
