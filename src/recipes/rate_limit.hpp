// SPDX-License-Identifier: Apache-2.0
//
// Asking a store how often something may happen, and waiting until it may.
#pragma once

#include <holdfast/rate_limit.hpp>

#include "client/core.hpp"
#include "model/rate_limit.hpp"

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>

namespace holdfast::recipes {

using runtime::LocalTime;

struct RateQuestion {
  std::string scope;  // for messages
  LockName name;      // where the limit is kept
  model::RateCommand command;
};

// Errors: bad_input, naming the field and the rule.
Result<RateQuestion> make_question(std::string_view scope, const model::RateCommand& command);

// One step. Errors as Store::apply; an answer that was lost says that the hits may have counted.
Task<Result<RateOutcome>> ask(std::shared_ptr<client::Core> core, RateQuestion question,
                              std::stop_token stop);

// "'user-42' allows 10/s, and nothing is left; the next is allowed in 340ms"
std::string explain_denied(const RateQuestion& question, const RateOutcome& outcome);

// Asks until it is allowed, or until `wait` is over or known to be too short. Only sleeping ends
// with the wait: the last question has the time of any command, since one that is cut short may
// have counted.
Task<Result<RateOutcome>> take_turn(std::shared_ptr<client::Core> core, RateQuestion question,
                                    Micros wait, std::stop_token stop);

// What a waiter does after an answer: end with a result, or sleep until then.
using NextStep = std::variant<Result<RateOutcome>, LocalTime>;

struct TurnClock {
  LocalTime now{};
  LocalTime give_up_at{};
  Micros wait{};
  unsigned failures = 0;  // in a row, before this answer
  std::uint64_t random = 0;
};
NextStep after_answer(const RateQuestion& question, const Result<RateOutcome>& answer,
                      const TurnClock& clock);

// A scope, a rule and a client: what the public class is made of.
class RateHandle {
 public:
  RateHandle(std::shared_ptr<client::Core> core, std::string_view scope, const RateRule& rule)
      : core_(std::move(core)), scope_(scope), rule_(rule) {}

  // Everything that can be refused without asking the store.
  Result<RateQuestion> question(model::RateCommand::Verb verb, std::uint32_t cost) const {
    return make_question(scope_, {.verb = verb, .rule = rule_, .cost = cost});
  }
  Result<RateOutcome> ask_blocking(model::RateCommand::Verb verb, std::uint32_t cost) const;
  const std::shared_ptr<client::Core>& core() const { return core_; }

 private:
  const std::shared_ptr<client::Core> core_;
  const std::string scope_;
  const RateRule rule_;
};

}  // namespace holdfast::recipes
