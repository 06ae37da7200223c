// SPDX-License-Identifier: Apache-2.0
//
// `holdfast guard`: a reverse proxy for a service that knows nothing of fences. What it promises
// is in docs/fence-guards.md.
#pragma once

#include "client/core.hpp"
#include "guard/options.hpp"

#include <memory>
#include <string>
#include <vector>

namespace holdfast::guard {

class Guard {
 public:
  // Opens the addresses. Errors: unavailable (an address is in use), unsupported (the store keeps
  // no fences).
  static Result<std::unique_ptr<Guard>> start(Options options, std::shared_ptr<client::Core> core);
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
  ~Guard();

  // As they were bound: "127.0.0.1:3010".
  std::vector<std::string> addresses() const;
  // Accepts nothing more and finishes what is under way, at the latest after options.drain.
  void stop();

 private:
  struct Parts;
  explicit Guard(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace holdfast::guard
