// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/error.hpp>

#include <string_view>

namespace holdfast::backends::redis {

// What to do about an error reply. Our scripts fail before their first write or not at all, so that
// whatever the server refused in words we know has not happened.
struct Refusal {
  enum class Then : std::uint8_t {
    give_up,        // tell the caller
    load_script,    // send the text instead of its hash
    retry,          // it passes by itself: ask again until the deadline
    change_server,  // this server is the wrong one: connect anew, then ask again
  };
  Then then = Then::give_up;
  Error error;
};

Refusal judge(std::string_view reply, std::string_view peer);

}  // namespace holdfast::backends::redis
