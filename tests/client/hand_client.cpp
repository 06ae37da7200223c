// SPDX-License-Identifier: Apache-2.0
#include "client/hand_client.hpp"

#include "backends/memory/memory_store.hpp"
#include "client/acquire.hpp"

namespace holdfast::test {

Running<Result<Lease>> HandClient::acquire(std::string_view name, AcquireOptions options,
                                           std::stop_token stop) const {
  auto mutex = api.mutex(name);
  Running<Result<Lease>> acquiring(mutex.async_acquire(options, std::move(stop)));
  runtime->run();
  return acquiring;
}

Lease HandClient::take(std::string_view name, AcquireOptions options) const {
  auto acquiring = acquire(name, options);
  return value_of(std::move(acquiring.result()));
}

std::shared_ptr<client::HeldLease> hold(const HandClient& client, std::string_view name,
                                        model::LockSpec spec, std::uint32_t permits,
                                        client::Terms terms) {
  client::Wanted wanted{.name = LockName::make(name).value(),
                        .spec = spec,
                        .owner = client.core->fresh_owner(),
                        .request = client.core->fresh_request(),
                        .permits = permits,
                        .ttl = terms.ttl};
  client::HeldLease::Identity identity{.name = wanted.name,
                                       .spec = wanted.spec,
                                       .owner = wanted.owner,
                                       .request = wanted.request,
                                       .permits = wanted.permits};
  Running<Result<client::Won>> acquiring(client::acquire(client.core, std::move(wanted), {}));
  const auto won = value_of(std::move(acquiring.result()));
  return client::HeldLease::start(client.core, std::move(identity), terms, won);
}

std::shared_ptr<client::HeldLease> hold(const HandClient& client, std::string_view name,
                                        client::Terms terms) {
  return hold(client, name, model::LockSpec::mutex(), all_permits, terms);
}

std::shared_ptr<client::HeldLease> hold_shared(const HandClient& client, std::string_view name,
                                               client::Terms terms) {
  return hold(client, name, model::LockSpec::read_write(), 1, terms);
}

std::shared_ptr<FaultStore> ClientTest::make_store(std::shared_ptr<HandRuntime> runtime) {
  return FaultStore::over(runtime,
                          [runtime] { return backends::memory::make_memory_store(runtime); });
}

void ClientTest::TearDown() {
  mine.line->resume();
  other.line->resume();
  EXPECT_TRUE(runtime->settle()) << runtime->timers() << " timers go on for ever";
  EXPECT_TRUE(store_is_empty());
}

LockView ClientTest::seen(std::string_view name) const {
  model::LockCommand look{.spec = {}, .verb = model::Inspect{}};
  Running<Result<store::Reply>> asking(
      store->inner()->apply({.name = LockName::make(name).value(), .command = std::move(look)}));
  auto& outcome = std::get<model::LockOutcome>(asking.result().value().outcome);
  return std::get<model::Seen>(outcome).lock;
}

bool ClientTest::store_is_empty() const {
  Running<Result<LockPage>> listing(store->inner()->list({}));
  return listing.result().value().locks.empty();
}

}  // namespace holdfast::test
