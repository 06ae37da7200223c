// SPDX-License-Identifier: Apache-2.0
//
// What a request asks of the extensions: all of it is read, and found good, before any of it is
// done.
#pragma once

#include "forrst/envelope.hpp"
#include "forrst/lock_order.hpp"
#include "forrst/registry.hpp"
#include "forrst/urn.hpp"
#include "runtime/clock.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::forrst {

using runtime::LocalTime;

struct DeadlineOrder {
  Duration specified{};  // from when the request came
};

struct OnceOrder {
  std::string key;
  Duration ttl{};
};

// Which of the limits the caller wants to hear of; empty: all that there are.
struct LimitOrder {
  std::string scope;
};

struct Orders {
  std::optional<LockOrder> lock{};
  std::optional<DeadlineOrder> deadline{};
  std::optional<OnceOrder> once{};
  std::optional<LimitOrder> limit{};
  // Those that we know, as they were written and in that order.
  std::vector<std::pair<Extension, std::string>> asked{};
};

// What is wrong goes behind `faults`.
Orders parse_orders(const Envelope& envelope, const Registered& function,
                    const ServiceOptions& options, std::vector<Fault>& faults);

}  // namespace holdfast::forrst
