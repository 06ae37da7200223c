// SPDX-License-Identifier: Apache-2.0
//
// A function that Forrst clients may call: its name and version, what its arguments must be, and
// the work itself.
#pragma once

#include <holdfast/forrst/fault.hpp>
#include <holdfast/names.hpp>
#include <holdfast/options.hpp>
#include <holdfast/rates.hpp>
#include <holdfast/task.hpp>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <chrono>
#include <expected>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace holdfast::forrst {

// What one argument must be; the words are those of JSON Schema.
struct Rule {
  enum class Type : std::uint8_t { any, boolean, integer, number, string, array, object };

  std::string name;
  Type type = Type::any;
  bool is_required = false;
  std::string description{};
  std::optional<double> minimum{};  // of a number
  std::optional<double> maximum{};
  std::optional<std::size_t> min_length{};  // characters of a text, elements of an array
  std::optional<std::size_t> max_length{};
  std::vector<std::string> one_of{};               // of a text
  std::optional<boost::json::value> by_default{};  // what the function finds if it is not given
};

// A lock that is held while the function runs.
struct HeldLock {
  std::string key;       // as the caller gave it
  std::string full_key;  // "lock:payments.charge:user:123"
  std::string owner;
  Fence fence = 0;
};

// What a function is called with.
struct Invocation {
  std::string id;  // of the request
  std::string function;
  std::string version;
  boost::json::object arguments;  // as the rules want them
  boost::json::object context;
  std::optional<HeldLock> lock{};
  // Under the idempotency extension: a text that is the same for the same key of the same caller,
  // and no other; and whether an earlier run of it began and was never heard of again. Then look
  // first what that one did.
  std::string idempotency_key{};
  bool took_over = false;
  // Fires when the work is of no use any more: the lock is lost, the time is over, or nobody waits.
  std::stop_token stop{};
  std::chrono::steady_clock::time_point deadline{};
};

using Outcome = std::expected<boost::json::value, Fault>;

// What a code of failure says about the work: a retryable one says that nothing was done, unless it
// is one of those that leave that open (INTERNAL_ERROR, DEADLINE_EXCEEDED, DEPENDENCY_ERROR). An
// exception counts as INTERNAL_ERROR; its words go to the log and not to the caller.
using Handler = std::function<Outcome(const Invocation&)>;
// The same for work that waits without a thread. It must not block.
using AsyncHandler = std::function<Task<Outcome>(Invocation)>;

inline constexpr Duration default_function_timeout = std::chrono::seconds(30);
inline constexpr Duration max_function_timeout = std::chrono::hours(24);
inline constexpr std::size_t max_function_bytes = 200;

struct Function {
  std::string name;               // "payments.charge", or a URN
  std::string version = "1.0.0";  // semantic
  std::string description{};
  std::vector<Rule> arguments{};
  bool allows_more = true;  // arguments that no rule names
  // One of the two.
  Handler handler{};
  AsyncHandler async_handler{};
  Duration timeout = default_function_timeout;
  // Of what it changes, for describe: create, update, delete.
  std::vector<std::string> side_effects{};
  boost::json::object returns{};  // a JSON schema, for describe
  struct Deprecation {
    std::string reason;
    std::string sunset;  // a date; may be empty
  };
  std::optional<Deprecation> deprecated{};
  // The extensions that may be used with it, or those that may not, by their names: "atomic-lock".
  // Both empty: all.
  std::vector<std::string> supported_extensions{};
  std::vector<std::string> excluded_extensions{};
  std::optional<RateRule> rate_limit{};
  // After a run under an idempotency key that was never heard of again: may it run once more?
  bool safe_to_repeat = false;
  bool is_disabled = false;
};

}  // namespace holdfast::forrst
