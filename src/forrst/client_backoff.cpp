// SPDX-License-Identifier: Apache-2.0
#include "forrst/client_backoff.hpp"

#include "forrst/duration.hpp"

#include <algorithm>
#include <cmath>

namespace holdfast::forrst {

namespace {

namespace json = boost::json;

bool did_nothing_yet(const Fault& fault) {
  return fault.code == codes::lock_acquisition_failed || fault.code == codes::lock_timeout ||
         fault.code == codes::idempotency_processing;
}

// A server that says it in a way that we do not know says nothing.
Duration duration_in(const json::object& from, std::string_view member) {
  const auto* const found = from.if_contains(member);
  if (found == nullptr) return Duration::zero();
  const DurationRule rule{
      .what = std::string(member), .most = std::chrono::hours(24), .allows_milliseconds = true};
  return parse_duration(*found, rule).value_or(Duration::zero());
}

bool is_forbidden(const CallReply& reply) {
  const auto* const advice = reply.extension("retry");
  const auto* const allowed = advice != nullptr ? advice->if_contains("allowed") : nullptr;
  return allowed != nullptr && allowed->is_bool() && !allowed->get_bool();
}

}  // namespace

bool may_try_again(const CallReply& reply) {
  return !reply.ok() && std::ranges::all_of(reply.faults, did_nothing_yet) && !is_forbidden(reply);
}

Duration asked_patience(const CallReply& reply) {
  auto patience = Duration::zero();
  for (const auto& fault : reply.faults) {
    patience = std::max(patience, duration_in(fault.details, "retry_after"));
  }
  if (const auto* const advice = reply.extension("retry")) {
    patience = std::max(patience, duration_in(*advice, "after"));
  }
  return patience;
}

Duration next_delay(const Backoff& backoff, unsigned attempts, std::uint64_t random) {
  constexpr double random_range = 18446744073709551616.0;  // 2^64
  const auto most = static_cast<double>(backoff.most.count());
  // Infinity for many attempts, which the smaller of the two takes care of.
  const double grown =
      static_cast<double>(backoff.first.count()) * std::pow(backoff.factor, attempts - 1);
  const double share = static_cast<double>(random) / random_range;
  const double delay = std::min(grown, most) * (1 - backoff.jitter * share);
  return Duration(static_cast<Duration::rep>(delay));
}

std::optional<Duration> delay_before_next(const Backoff& backoff, unsigned attempts,
                                          Duration patience, std::uint64_t random) {
  if (attempts >= backoff.attempts || patience > backoff.most) return std::nullopt;
  return std::max(next_delay(backoff, attempts, random), patience);
}

}  // namespace holdfast::forrst
