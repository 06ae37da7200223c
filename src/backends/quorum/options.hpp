// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/error.hpp>
#include <holdfast/view.hpp>

#include <cstdint>
#include <map>
#include <string>

namespace holdfast::backends::quorum {

using namespace std::chrono_literals;

// The default ttl: no lease that was forgotten is longer.
inline constexpr Micros default_grace = 30s;

struct Options {
  double drift = 0.01;  // of the ttl: how differently fast the members' clocks may run
  Micros timeout = 200ms;
  // Between two tries: `retry_delay`, give or take up to `retry_jitter`.
  Micros retry_delay = 200ms;
  Micros retry_jitter = 200ms;
  std::uint32_t retries = 3;  // of a caller that does not wait
  bool fences = true;         // costs a second round of questions for each grant
  // So long after its start a member that may have forgotten its locks grants none that counts. 0
  // is for members that forget nothing, such as those of one's own process.
  Micros grace = default_grace;
  bool allow_same_server = false;  // several databases of one server, as in a demonstration
};

inline constexpr double min_drift = 0.01;
inline constexpr double max_drift = 0.5;
inline constexpr Micros min_member_timeout = 5ms;
inline constexpr Micros max_member_timeout = 10s;
inline constexpr Micros max_retry_delay = 60s;
inline constexpr std::uint32_t max_retries = 1000;
inline constexpr Micros max_grace = std::chrono::days(1);
inline constexpr std::size_t min_members = 3;
inline constexpr std::size_t max_members = 15;
// Of one member that does not answer: what it still has to be told. What is above it ends with its
// ttl.
inline constexpr std::size_t max_pending_give_backs = 4096;

// For messages: "30s".
std::string in_words(Micros time);

// Takes out of `options` what is the quorum's; the rest is for its members. Errors: bad_input,
// naming the option and its rule.
Result<Options> take_options(std::map<std::string, std::string, std::less<>>& options);

}  // namespace holdfast::backends::quorum
