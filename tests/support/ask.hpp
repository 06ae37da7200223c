// SPDX-License-Identifier: Apache-2.0
//
// Commands and outcomes in the words of a test.
#pragma once

#include "model/command.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <source_location>
#include <string_view>
#include <utility>

namespace holdfast::test {

using namespace std::chrono_literals;

inline OwnerId owner_named(std::string_view text) { return OwnerId::make(text).value(); }

// An acquire in the words of a test: plain numbers, and a default for all that does not matter.
struct Ask {
  std::string_view owner;
  std::uint64_t request = 1;
  std::uint32_t permits = 0;  // 0: what the kind usually takes
  Micros ttl = 10s;
  bool wait = false;
  std::uint64_t place = 0;
  Micros claim = model::limits::default_claim;
  std::uint64_t converts = 0;
  std::uint64_t known = 0;
  std::uint64_t process = 1;
  std::string_view note{};
  std::string_view value{};
  std::string_view source{};
};

inline std::uint32_t usual_permits(Kind kind) {
  return kind == Kind::mutex || kind == Kind::read_write ? all_permits : 1;
}

inline model::Acquire to_command(Kind kind, const Ask& ask) {
  auto metadata = std::make_shared<Metadata>();
  metadata->note = ask.note;
  metadata->value = ask.value;
  metadata->source = ask.source;
  return {.owner = owner_named(ask.owner),
          .request = model::RequestId{ask.request},
          .permits = ask.permits ? ask.permits : usual_permits(kind),
          .ttl = ask.ttl,
          .wait = ask.wait,
          .place = ask.place,
          .claim = ask.claim,
          .converts = model::RequestId{ask.converts},
          .known = ask.known,
          .process = model::ProcessId{ask.process},
          .metadata = std::move(metadata)};
}

inline std::string_view kind_of(const model::LockOutcome& outcome) {
  constexpr std::string_view kinds[] = {"Granted",  "Busy",   "Queued", "Released", "NotHeld",
                                        "NotOwner", "Forced", "Seen",   "Refused"};
  return kinds[outcome.index()];
}

// The outcome as the alternative it has to be; a failure and an empty one if it is another.
template <typename Expected>
Expected must_be(const model::LockOutcome& outcome,
                 std::source_location where = std::source_location::current()) {
  if (const auto* expected = std::get_if<Expected>(&outcome)) return *expected;
  ADD_FAILURE_AT(where.file_name(), static_cast<int>(where.line()))
      << "expected " << kind_of(model::LockOutcome(Expected{})) << ", got " << kind_of(outcome);
  return {};
}

inline model::Granted granted(const model::LockOutcome& outcome,
                              std::source_location where = std::source_location::current()) {
  return must_be<model::Granted>(outcome, where);
}
inline model::Busy busy(const model::LockOutcome& outcome,
                        std::source_location where = std::source_location::current()) {
  return must_be<model::Busy>(outcome, where);
}
inline model::Queued queued(const model::LockOutcome& outcome,
                            std::source_location where = std::source_location::current()) {
  return must_be<model::Queued>(outcome, where);
}
inline Errc refused(const model::LockOutcome& outcome,
                    std::source_location where = std::source_location::current()) {
  return must_be<model::Refused>(outcome, where).error.code;
}

}  // namespace holdfast::test
