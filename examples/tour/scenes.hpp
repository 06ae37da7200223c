// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/client.hpp>

#include "crew.hpp"
#include "screen.hpp"

#include <atomic>
#include <functional>

namespace tour {

// Set by Ctrl-C; the tour then ends early and cleans up.
extern std::atomic<bool> interrupted;

struct Pace {
  int rounds = 2;
  std::chrono::milliseconds hold{330};
  std::chrono::milliseconds ttl{2200};

  static Pace quick() {
    return {
        .rounds = 1, .hold = std::chrono::milliseconds(40), .ttl = std::chrono::milliseconds(1500)};
  }
};

class Tour {
 public:
  Tour(holdfast::Client client, const std::string& store, Pace pace);

  // Each throws std::runtime_error when something does not happen in time.
  void five_want_one();
  void a_holder_is_killed();
  void a_holder_is_paused();
  // True if everything was as promised.
  bool sum_up();

 private:
  // Shows what happens until `enough` is true of a report.
  void watch_until(const std::function<bool(const Report&)>& enough);
  void watch_for(const std::string& who, Event event);
  void watch_for_a_while();
  std::optional<Report> show_next();
  void show(const Report& report);
  void show_grant(const Report& report);
  void show_write(const Report& report);
  void show_live();
  std::string in_line() const;

  const holdfast::Client client_;
  const Pace pace_;
  Crew crew_;
  Screen screen_;

  // What the resource behind the lock remembers.
  holdfast::Fence highest_fence_written_ = 0;

  holdfast::Fence last_fence_ = 0;
  int grants_ = 0;
  int fences_that_went_back_ = 0;
  int refused_writes_ = 0;
  std::chrono::milliseconds passed_on_after_{};
  std::chrono::milliseconds noticed_after_{};
};

}  // namespace tour
