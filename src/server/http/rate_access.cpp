// SPDX-License-Identifier: Apache-2.0
#include "server/http/rate_access.hpp"

#include "server/http/endpoint_limits.hpp"
#include "server/journal.hpp"
#include "server/metrics/metrics.hpp"
#include "server/metrics/rate_board.hpp"
#include "server/services.hpp"
#include "server/wall_clock.hpp"
#include "text/rate.hpp"

namespace holdfast::server {

using RateVerb = model::RateCommand::Verb;

namespace {

void count(Metrics& metrics, const Result<RateOutcome>& outcome) {
  auto& counter = !outcome           ? metrics.rate_failed
                  : outcome->allowed ? metrics.rate_allowed
                                     : metrics.rate_denied;
  counter.add();
}

}  // namespace

Verb needed_verb(RateVerb verb, std::string_view counted_under) {
  if (verb == RateVerb::peek) return Verb::read;
  const bool is_own = counted_under.starts_with(own_scope_prefix);
  return verb == RateVerb::reset || is_own ? Verb::admin : Verb::lock;
}

void note_rate(Services& services, const Who& who, std::string_view counted_under,
               const model::RateCommand& command, const Result<RateOutcome>& outcome) {
  if (command.verb == RateVerb::check) count(services.metrics(), outcome);
  if (!outcome) return;
  if (command.verb == RateVerb::check) {
    services.rate_board.checked(counted_under, command.rule, *outcome, wall_now());
  }
  if (command.verb != RateVerb::reset) return;
  services.rate_board.reset(counted_under, command.rule);
  services.journal.note(who, "rate_limit_reset", counted_under, text::format_rate(command.rule));
}

}  // namespace holdfast::server
