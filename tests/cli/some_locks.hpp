// SPDX-License-Identifier: Apache-2.0
//
// Locks as a store would show them.
#pragma once

#include <holdfast/view.hpp>

#include "text/json.hpp"

#include <chrono>
#include <memory>
#include <string>

namespace holdfast::test {

// When they were listed.
inline constexpr text::WallTime evening =
    std::chrono::sys_days{std::chrono::year{2026} / 11 / 15} + std::chrono::hours(21);

inline std::shared_ptr<const Metadata> said(std::string program, std::string host,
                                            std::string note) {
  auto process = std::make_shared<ProcessInfo>(
      ProcessInfo{.host = std::move(host), .program = std::move(program), .pid = 4711});
  return std::make_shared<Metadata>(
      Metadata{.process = std::move(process), .source = "", .note = std::move(note), .value = ""});
}

struct Held {
  Micros held_for = std::chrono::seconds(10);
  Micros remaining = std::chrono::seconds(20);
  Fence fence = 1;
};

// A mutex held by report on web-1.
inline LockView held(std::string name, Held how) {
  LockView lock{.name = std::move(name), .capacity = all_permits, .holders = {}, .waiters = {}};
  lock.holders.push_back({.fence = how.fence,
                          .remaining = how.remaining,
                          .held_for = how.held_for,
                          .metadata = said("report", "web-1", "nightly")});
  return lock;
}

}  // namespace holdfast::test
