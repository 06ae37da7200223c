// SPDX-License-Identifier: Apache-2.0
#include "support/direct.hpp"

#include "runtime/process_info.hpp"
#include "runtime/random.hpp"
#include "runtime/spawn.hpp"
#include "support/bars.hpp"

#include <fmt/format.h>

namespace holdfast::bench {

namespace {

constexpr Micros ttl = std::chrono::minutes(10);
constexpr Micros patience = std::chrono::seconds(10);

model::RequestId id(std::uint64_t request) { return model::RequestId{request + 1}; }

}  // namespace

std::string order_name(std::size_t number) { return fmt::format("order:{}", 1'000'000 + number); }

std::vector<Party> make_parties(std::size_t count) {
  std::vector<Party> parties;
  parties.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    parties.push_back({*LockName::make(order_name(i)),
                       OwnerId::from_random(runtime::secure_random(), runtime::secure_random())});
  }
  return parties;
}

model::MetadataPtr shared_metadata() {
  return std::make_shared<const Metadata>(
      Metadata{.process = runtime::this_process(), .source = "bench.cpp:42"});
}

store::Request acquire_request(const Party& party, std::uint64_t request,
                               const model::MetadataPtr& metadata) {
  model::Acquire acquire{
      .owner = party.owner, .request = id(request), .ttl = ttl, .metadata = metadata};
  return {.name = party.name,
          .command = model::LockCommand{model::LockSpec::mutex(), std::move(acquire)},
          .deadline = runtime::LocalTime::max() - patience};
}

store::Request release_request(const Party& party, std::uint64_t request) {
  return {.name = party.name,
          .command = model::LockCommand{model::LockSpec::mutex(),
                                        model::Release{party.owner, id(request)}},
          .deadline = runtime::LocalTime::max() - patience};
}

std::string encoded_hold(const Party& party, const model::MetadataPtr& metadata) {
  model::LockState state{.spec = model::LockSpec::mutex(Order::fifo)};
  state.holds.push_back({.owner = party.owner, .request = id(0), .ttl = ttl, .metadata = metadata});
  std::string bytes;
  model::encode(state, bytes);
  return bytes;
}

void expect_granted(const Result<store::Reply>& reply) {
  if (!reply) give_up(reply.error().message);
  const auto& outcome = std::get<model::LockOutcome>(reply->outcome);
  if (!std::holds_alternative<model::Granted>(outcome)) give_up("a free lock was not granted");
}

void expect_released(const Result<store::Reply>& reply) {
  if (!reply) give_up(reply.error().message);
  const auto& outcome = std::get<model::LockOutcome>(reply->outcome);
  if (!std::holds_alternative<model::Released>(outcome)) give_up("a held lock was not released");
}

void direct_pair(store::Store& store, const Party& party, std::uint64_t request,
                 const model::MetadataPtr& metadata) {
  expect_granted(runtime::run_blocking(store.apply(acquire_request(party, request, metadata))));
  expect_released(runtime::run_blocking(store.apply(release_request(party, request))));
}

}  // namespace holdfast::bench
