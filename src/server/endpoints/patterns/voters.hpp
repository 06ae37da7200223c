// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/error.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::client {
class Core;
}

namespace holdfast::server::patterns {

// The store of the pattern redlock, whose members vote.
struct Voters {
  std::shared_ptr<client::Core> core;
  std::size_t count = 0;
  bool is_demo = false;  // they live in this process, and survive nothing
};

// `stores` is a redlock:// URL, one URL with several hosts, or a list of URLs with commas between
// them; empty: five stores in this process, which show how it works. Members that cannot be reached
// may come later. Errors: bad_input for too few of them, or a URL that no store understands.
Result<Voters> open_voters(std::string_view stores);

// A comma parts two URLs where a scheme follows it, and else two hosts of one URL.
std::vector<std::string> split_members(std::string_view stores);

}  // namespace holdfast::server::patterns
