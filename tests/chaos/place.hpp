// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "faults_redis/load.hpp"
#include "support/fault_proxy.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace holdfast::faults {

// A store of one kind that can be broken, and its address.
class Place {
 public:
  Place() = default;
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  virtual ~Place() = default;

  // Once, after the processes that use it were forked: from here on there may be threads.
  virtual void start(SharedLog& log, Dice& dice) = 0;
  virtual std::string url(bool by_the_bad_line) = 0;
  // The line that goes bad, if there is one.
  virtual test::FaultProxy* line() { return nullptr; }
  // Breaks something, waits until it is over, notes it in the log, and says what it was. Nothing if
  // only the processes that use the store can be broken.
  virtual std::string_view trouble(SharedLog& log, Dice& dice) = 0;
  // What is in the store although nobody wants it any more; "" if nothing.
  virtual std::string left_behind() { return {}; }
  // What is used, and for how long.
  virtual LoadPlan plan() const = 0;
};

std::unique_ptr<Place> make_redis_place();
std::unique_ptr<Place> make_redlock_place();
std::unique_ptr<Place> make_file_place();
std::unique_ptr<Place> make_http_place();

}  // namespace holdfast::faults
