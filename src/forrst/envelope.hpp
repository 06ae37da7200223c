// SPDX-License-Identifier: Apache-2.0
//
// A request of the protocol, from bytes: everything that can be judged without knowing the
// functions. All that is wrong with it is told at once.
#pragma once

#include <holdfast/forrst/fault.hpp>

#include <boost/json/object.hpp>

#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::forrst {

inline constexpr std::string_view protocol_name = "forrst";
inline constexpr std::string_view protocol_version = "0.1.0";

// Boost's own type of view, which is not std's in Boost 1.81.
inline boost::json::string_view for_json(std::string_view text) {
  return {text.data(), text.size()};
}

struct Requested {
  std::string urn;  // as it was written
  boost::json::object options;
};

struct Envelope {
  std::string id;
  std::string function;
  std::optional<std::string> version;
  boost::json::object arguments;
  boost::json::object context;
  std::vector<Requested> extensions;
};

// What an answer to a request without sense is made of.
struct Refusal {
  std::optional<std::string> id;  // if one could be read; null in the answer else
  std::vector<Fault> faults;      // at least one, at most max_faults
};

// PARSE_ERROR with the position for what is no JSON (or not UTF-8, too deep, or has a key twice);
// INVALID_REQUEST with a pointer for each member that breaks a rule; INVALID_PROTOCOL_VERSION for
// another major version. Longer than max_request_bytes: INVALID_REQUEST.
std::expected<Envelope, Refusal> parse_envelope(std::string_view body);

// "/call/arguments/a~1b": the pointer with one more step, escaped as RFC 6901 has it.
std::string pointer_to(std::string_view parent, std::string_view member);

}  // namespace holdfast::forrst
