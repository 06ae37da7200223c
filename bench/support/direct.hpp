// SPDX-License-Identifier: Apache-2.0
//
// Locks through Store::apply alone: what the client asks of a store, without the client.
#pragma once

#include "store/store.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::bench {

// "order:1000000", "order:1000001", …: names as programs use them.
std::string order_name(std::size_t number);

// A caller that wants a lock: its name and a random owner of 32 hexadecimal digits.
struct Party {
  LockName name;
  OwnerId owner;
};
std::vector<Party> make_parties(std::size_t count);

// Host, program and source line, shared by all commands as the client shares them.
model::MetadataPtr shared_metadata();

store::Request acquire_request(const Party& party, std::uint64_t request,
                               const model::MetadataPtr& metadata);
store::Request release_request(const Party& party, std::uint64_t request);

// The bytes that a store keeps of a lock held by this party.
std::string encoded_hold(const Party& party, const model::MetadataPtr& metadata);

// Each ends the program if the store does not answer as it should.
void expect_granted(const Result<store::Reply>& reply);
void expect_released(const Result<store::Reply>& reply);

// One uncontended acquire and release.
void direct_pair(store::Store& store, const Party& party, std::uint64_t request,
                 const model::MetadataPtr& metadata);

}  // namespace holdfast::bench
