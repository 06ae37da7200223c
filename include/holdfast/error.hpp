// SPDX-License-Identifier: Apache-2.0
//
// What can go wrong, as values. No Holdfast function throws unless its contract is one of the
// standard library's (`lock()`), so every call that can fail returns a Result.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <system_error>

namespace holdfast {

// One vocabulary for the library, the JSON `code`, the exit code and the HTTP status;
// docs/errors.md has the table.
enum class Errc : std::uint8_t {
  busy = 1,            // somebody else holds it, and the caller did not want to wait
  timed_out,           // the wait ended before the lock came free
  cancelled,           // the caller's stop token fired
  lost,                // the lease ended under the caller
  unavailable,         // the store cannot be reached or refuses to work; nothing was changed
  quorum_not_reached,  // too few members of a quorum answered
  not_replicated,      // granted, but too few replicas confirmed; it was given back
  outcome_unknown,     // the command may or may not have happened
  spec_mismatch,       // the name is in use as another kind of lock
  not_held,            // nobody holds it (any more)
  not_owner,           // somebody else holds it
  deadlock,            // waiting would never end
  bad_input,           // the call breaks a rule; the message names the field and the rule
  unsupported,         // this store cannot do that soundly; the message says why
  limit_reached,       // a limit of docs/limits.md is in the way; the message names it
};

// The stable word of an error, as it stands in JSON: "busy", "timed_out", …
std::string_view to_string(Errc code) noexcept;

// Errc as a std::error_code, for what is thrown where the standard says so. Each compares equal to
// one std::errc (docs/errors.md): bad_input to invalid_argument, unavailable to host_unreachable.
const std::error_category& error_category() noexcept;
inline std::error_code make_error_code(Errc code) noexcept {
  return {static_cast<int>(code), error_category()};
}

struct Error {
  Errc code = Errc::unavailable;
  std::string message;  // one sentence for a person; names the lock and the peer where it can
};

template <typename T>
using Result = std::expected<T, Error>;

inline std::unexpected<Error> fail(Errc code, std::string message) {
  return std::unexpected<Error>(Error{code, std::move(message)});
}

}  // namespace holdfast

template <>
struct std::is_error_code_enum<holdfast::Errc> : std::true_type {};
