// SPDX-License-Identifier: Apache-2.0
//
// What a call came to, and how the protocol says it.
#pragma once

#include <holdfast/forrst/service.hpp>

#include "forrst/orders.hpp"

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::forrst {

// RFC 3339 in UTC, in whole seconds, cut: "2026-11-16T10:30:30Z".
std::string time_text(std::chrono::system_clock::time_point time);

struct Answered {
  boost::json::value result{};
  std::vector<Fault> faults{};
  // By extension; those that were not asked for are not told.
  std::array<std::optional<boost::json::object>, extension_count> data{};
  boost::json::object rate_limit{};  // for meta
  std::vector<std::pair<std::string, std::string>> headers{};
  int status = 0;           // zero: as the faults have it
  Duration retry_after{};   // zero: nothing to say
  bool has_waited = false;  // because the caller wanted to
  std::move_only_function<void()> undelivered{};

  std::optional<boost::json::object>& of(Extension extension) {
    return data[static_cast<std::size_t>(extension)];
  }
  bool is_good() const { return faults.empty(); }
};

Fault make_fault(std::string_view code, std::string message, boost::json::object details = {});
Answered failed(Fault fault);

struct AnswerTo {
  std::optional<std::string_view> id;  // null in the answer without one
  const Orders* orders = nullptr;
  std::string_view node;
  Duration took{};
  const Function* function = nullptr;  // for what it says about itself
};

Reply encode(Answered answered, const AnswerTo& to);

boost::json::object to_json(const Fault& fault);

}  // namespace holdfast::forrst
