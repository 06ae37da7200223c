// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/client.hpp>

#include <cstddef>
#include <stop_token>
#include <string>
#include <vector>

namespace holdfast::cli {

// The locks that `list` and `watch` sort. More than these are counted by nobody.
inline constexpr std::size_t max_listed = 100'000;

struct Gathered {
  std::vector<LockView> locks;  // the oldest first
  bool is_complete = true;      // false: there are more than max_listed
};

// Every lock whose name begins with the prefix, page by page. Errors as Client::list; cancelled if
// `stop` fired between two pages.
Result<Gathered> gather(const Client& client, std::string prefix, std::stop_token stop = {});

}  // namespace holdfast::cli
