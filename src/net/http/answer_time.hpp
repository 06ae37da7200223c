// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/clock.hpp"

#include <algorithm>
#include <chrono>

namespace holdfast::net::http {

// The shortest time in which a server answered lately: what has less left when its turn comes
// cannot be answered in time. It forgets, because what is not sent measures nothing.
class AnswerTime {
 public:
  using Micros = std::chrono::microseconds;
  static constexpr Micros period = std::chrono::seconds(5);

  void note(runtime::LocalTime now, Micros took) {
    if (now - began_ >= period) {
      before_ = now - began_ < 2 * period ? here_ : Micros::max();
      here_ = Micros::max();
      began_ = now;
    }
    here_ = std::min(here_, took);
  }
  // Zero if there is none of this or the last period.
  Micros shortest(runtime::LocalTime now) const {
    const auto age = now - began_;
    if (age >= 2 * period) return Micros::zero();
    const auto least = age < period ? std::min(here_, before_) : here_;
    return least == Micros::max() ? Micros::zero() : least;
  }

 private:
  runtime::LocalTime began_{};
  Micros here_ = Micros::max();
  Micros before_ = Micros::max();
};

}  // namespace holdfast::net::http
