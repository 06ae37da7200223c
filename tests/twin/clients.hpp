// SPDX-License-Identifier: Apache-2.0
//
// Makes commands as a handful of careless clients would: they repeat themselves, come late, mix up
// places, fences and kinds of lock, and have strange names. All times are whole milliseconds, as
// Redis counts the ttl of a key in these.
#pragma once

#include "model/command.hpp"

#include <array>
#include <map>
#include <optional>
#include <random>
#include <utility>
#include <vector>

namespace holdfast::test {

// Where clients live. Nobody ever listens for the process `none`.
inline constexpr std::array processes{model::ProcessId{1}, model::ProcessId{2},
                                      model::ProcessId{0xfedcba9876543210}};

class Clients {
 public:
  // Those who share the lock with other programs stay with its kind, as their store makes them.
  Clients(model::LockSpec spec, std::uint64_t seed, bool stay_with_kind = false);

  model::LockCommand next();
  // The numbers that clients learn, as the model counts.
  void heard(const model::LockCommand& command, const model::LockOutcome& outcome);
  void heard(const model::Message& message);

 private:
  using Verb = decltype(model::LockCommand::verb);
  using Attempt = std::pair<std::string, model::RequestId>;

  std::size_t below(std::size_t end) { return random_() % end; }
  bool one_in(std::size_t n) { return below(n) == 0; }
  model::RequestId some_request() { return model::RequestId{1 + below(3)}; }
  Micros some_ttl();
  const OwnerId& some_owner();
  Fence some_fence();
  Fence some_agreed_fence();
  std::string some_source();
  model::LockSpec some_spec();
  std::uint32_t permits_for(const model::LockSpec& spec);
  Verb verb(const model::LockSpec& spec);
  model::Acquire acquire(const model::LockSpec& spec);
  model::Release release(const OwnerId& owner, model::RequestId request);
  std::uint64_t place_of(const Attempt& attempt);
  void convert(model::Acquire& wanted);

  model::LockSpec spec_;
  bool stay_with_kind_;
  std::mt19937_64 random_;
  std::size_t crowd_;  // how many owners there are
  std::map<Attempt, std::uint64_t> places_;
  std::map<Attempt, Fence> fences_;
  std::vector<Fence> seen_fences_;
  std::optional<model::Acquire> waiting_upgrade_;  // the latest one
  std::vector<model::LockCommand> sent_;
};

}  // namespace holdfast::test
