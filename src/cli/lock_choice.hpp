// SPDX-License-Identifier: Apache-2.0
//
// Which kind of lock a command means, said by options: --shared, --permits 2/5, --reentrant, and
// without any of them an exclusive lock.
#pragma once

#include <holdfast/client.hpp>

#include "cli/syntax.hpp"

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

namespace holdfast::cli {

struct Permits {
  std::uint32_t wanted = 1;
  std::uint32_t capacity = 1;
  friend bool operator==(const Permits&, const Permits&) = default;
};

struct LockChoice {
  bool shared = false;
  bool reentrant = false;
  std::optional<Permits> permits;
  Order order = Order::automatic;
};

// Declares the options. They exclude each other.
void add_lock_choice(Syntax& syntax, LockChoice& choice);

// "2/5": two of five. Errors: bad_input.
Result<Permits> parse_permits(std::string_view text);

// options.permits is taken from the choice. Errors as Lockable::acquire.
Result<Lease> acquire_chosen(const Client& client, const LockChoice& choice, std::string_view name,
                             AcquireOptions options, std::stop_token stop = {});

}  // namespace holdfast::cli
