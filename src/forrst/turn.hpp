// SPDX-License-Identifier: Apache-2.0
//
// One call on its way.
#pragma once

#include "forrst/answer.hpp"
#include "forrst/envelope.hpp"
#include "forrst/orders.hpp"
#include "forrst/registry.hpp"

#include <stop_token>

namespace holdfast::forrst {

struct Turn {
  Envelope envelope;
  Caller caller;
  std::stop_token stop;  // nobody waits for the answer, or the server wants to end
  LocalTime began{};
  const Registered* function = nullptr;
  Orders orders{};

  const boost::json::object& arguments() const { return envelope.arguments; }
  bool may(Caller::Right right, std::string_view name) const {
    return !caller.may || caller.may(right, name);
  }
  // When the caller no longer wants an answer.
  LocalTime give_up_at() const {
    return orders.deadline ? began + orders.deadline->specified : LocalTime::max();
  }
};

}  // namespace holdfast::forrst
