// SPDX-License-Identifier: Apache-2.0
#include "simulation/timeline.hpp"

#include "simulation/plan.hpp"

#include <fmt/format.h>

#include <array>
#include <iterator>

namespace holdfast::simulation {

namespace {

using history::Attempt;
using history::Detail;
using history::Event;
using history::History;
using history::Time;
using history::What;

std::string seconds(Time time) {
  if (time == history::for_ever) return "for ever";
  return fmt::format("{}.{:06} s", time / 1'000'000'000, time / 1000 % 1'000'000);
}

const char* word(Detail detail) {
  static constexpr std::array words{"",        "released",  "already expired", "held by another",
                                    "busy",    "timed out", "cancelled",       "unavailable",
                                    "unknown", "lost",      "not held",        "another error"};
  return words.at(static_cast<std::size_t>(detail));
}

std::string wish(const Attempt& attempt) {
  std::string text = attempt.permits == attempt.capacity
                         ? (attempt.reentrant ? "the re-entrant lock" : "the lock")
                     : attempt.capacity == UINT32_MAX
                         ? "a shared lease"
                         : fmt::format("{} of {} permits", attempt.permits, attempt.capacity);
  if (attempt.converts != 0) text = fmt::format("to upgrade #{}", attempt.converts);
  if (!attempt.waits) return text + ", now or never";
  return text + fmt::format(", waits until {}", seconds(attempt.give_up));
}

std::string what_callers_do(const History& history, const Event& event) {
  switch (event.what) {
    case What::asked: return "asks for " + wish(history.attempt(event.op));
    case What::queued: return fmt::format("is told its place in the queue, {}", event.number);
    case What::granted:
      return fmt::format("HOLDS with fence {}, believes until {}", event.fence,
                         seconds(event.until));
    case What::renewing: return "sends a renewal";
    case What::renewed: return fmt::format("is renewed, believes until {}", seconds(event.until));
    case What::failed: return fmt::format("gives up: {}", word(event.detail));
    case What::releasing: return "lets go, believes no longer";
    case What::released: return fmt::format("is told of its release: {}", word(event.detail));
    case What::lost: return "LOST, believes no longer";
    case What::read:
    case What::wrote:
      return fmt::format("{} {} with fence {} (looked at its lease at {}): {}",
                         event.what == What::read ? "reads" : "writes", event.number, event.fence,
                         seconds(event.since), event.accepted ? "accepted" : "REFUSED");
    default: return {};
  }
}

std::string what_the_store_does(const Event& event) {
  switch (event.what) {
    case What::held:
      return fmt::format("store: held with fence {} until {}", event.fence, seconds(event.until));
    case What::freed:
      return event.by == 0 ? std::string("store: freed by an operator")
                           : fmt::format("store: freed by #{}", event.by);
    case What::self_blocked: return "store: in its own way";
    default: return {};
  }
}

// For a client of several servers, the one that it cannot reach.
std::string from_where(const Event& event) {
  if (event.number < members_from) return {};
  return fmt::format(" for member {}", event.number - members_from + 1);
}

std::string what_goes_wrong(const History& history, const Event& event) {
  switch (event.what) {
    case What::unreachable:
      return fmt::format("! unreachable{} until {}", from_where(event), seconds(event.until));
    case What::stopped:
      return event.until == history::for_ever
                 ? std::string("! crashes")
                 : fmt::format("! stopped until {}", seconds(event.until));
    case What::data_lost: return "! the store forgets";
    case What::clock_stepped:
      return fmt::format("! the store's clock is set by {} ms", event.number / 1'000'000);
    case What::forced:
      return fmt::format("! an operator ends all leases on {}, fence {}",
                         history.names[event.name - 1], event.fence);
    case What::calm: return "--- no more faults ---";
    case What::ended: return "--- the end ---";
    default: return {};
  }
}

std::string who(const History& history, const Event& event) {
  if (event.op == 0) {
    if (event.process >= members_from) {
      return fmt::format("member {}", event.process - members_from + 1);
    }
    return event.process == 0 ? std::string("-") : fmt::format("process {}", event.process);
  }
  const Attempt& attempt = history.attempt(event.op);
  return fmt::format("process {} #{} {}", attempt.process, event.op,
                     history.names[attempt.name - 1]);
}

}  // namespace

std::string timeline(const History& history, const std::vector<history::Violation>& violations) {
  std::string text;
  for (std::size_t i = 0; i < history.events.size(); ++i) {
    const Event& event = history.events[i];
    std::string line = what_callers_do(history, event);
    if (line.empty()) line = what_the_store_does(event);
    if (line.empty()) line = what_goes_wrong(history, event);
    fmt::format_to(std::back_inserter(text), "{:>14}  {:<24}  {}\n", seconds(event.at),
                   who(history, event), line);
    for (const auto& violation : violations) {
      if (violation.event != i || violation.why.empty()) continue;
      fmt::format_to(std::back_inserter(text), "{:>14}  C{} BROKEN: {}\n", "^^^",
                     static_cast<int>(violation.rule), violation.why);
    }
  }
  return text;
}

}  // namespace holdfast::simulation
