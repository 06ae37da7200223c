// SPDX-License-Identifier: Apache-2.0
//
// The functions that can be called, by name and version.
#pragma once

#include <holdfast/forrst/service.hpp>

#include "forrst/version.hpp"

#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::forrst {

struct Turn;

// What a function of the protocol itself came to; an unhealthy answer is an answer with a status of
// its own.
struct SystemOutcome {
  Outcome outcome;
  int status = 0;                                 // zero: as the outcome has it
  std::move_only_function<void()> undelivered{};  // as that of a reply
};
// `turn` outlives the task.
using SystemHandler = std::function<Task<SystemOutcome>(const Turn& turn)>;

struct Registered {
  Function function;
  Version version;
  SystemHandler system{};  // instead of the function's own handlers
  Caller::Right right = Caller::Right::lock;

  bool is_system() const { return static_cast<bool>(system); }
};

class Registry {
 public:
  // A function of a user's. Errors: bad_input, naming the field and the rule.
  Result<void> add(Function function);
  // One of the protocol's own, under each of the names. The first one is listed.
  void add_system(Function function, std::vector<std::string> names, Caller::Right right,
                  SystemHandler handler);

  // Exactly the version, or without one the newest that is stable. Errors: FUNCTION_NOT_FOUND,
  // VERSION_NOT_FOUND.
  std::expected<const Registered*, Fault> find(std::string_view name,
                                               const std::optional<std::string>& version) const;

  using Versions = std::vector<std::shared_ptr<const Registered>>;  // the newest first
  // Null if there is no such function.
  const Versions* versions_of(std::string_view name) const;
  // The newest stable one; null if there is none.
  static const Registered* recommended(const Versions& versions);
  // Once each, sorted, without other spellings.
  const std::vector<std::string>& names() const { return names_; }

 private:
  void put(const std::string& name, std::shared_ptr<const Registered> entry);

  std::map<std::string, Versions, std::less<>> by_name_;
  std::vector<std::string> names_;
  std::size_t size_ = 0;
};

}  // namespace holdfast::forrst
