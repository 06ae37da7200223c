// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

namespace holdfast::server {

struct Principal;

// On whose behalf something is done.
struct Who {
  std::shared_ptr<const Principal> principal;  // null: the server itself
  std::string client;                          // the address
};

}  // namespace holdfast::server
