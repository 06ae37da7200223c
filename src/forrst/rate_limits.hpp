// SPDX-License-Identifier: Apache-2.0
//
// How often functions may be called. The limits of the configuration hold for every call; the
// extension makes an answer tell what is left of them.
#pragma once

#include "client/core.hpp"
#include "forrst/turn.hpp"

#include <memory>

namespace holdfast::forrst {

// What the limits say to a call: whether it may go on, and what the answer tells of them.
struct Allowance {
  std::optional<Fault> refused{};
  boost::json::object data{};  // of the extension
  boost::json::object meta{};
  std::vector<std::pair<std::string, std::string>> headers{};
  Duration retry_after{};
};

// Whether there is anything to ask or to tell.
bool is_limited(const Turn& turn, const ServiceOptions& options);

// Counts the call. A limit that cannot be asked does not stop it. `turn` and `options` outlive the
// task.
Task<Allowance> ask_limits(std::shared_ptr<client::Core> core, const Turn& turn,
                           const ServiceOptions& options);

}  // namespace holdfast::forrst
