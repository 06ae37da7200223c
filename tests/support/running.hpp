// SPDX-License-Identifier: Apache-2.0
//
// Tasks that a test starts and looks at later, and results in the words of a test.
#pragma once

#include <holdfast/error.hpp>
#include <holdfast/task.hpp>

#include "runtime/spawn.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <ostream>
#include <source_location>

namespace holdfast {

inline std::ostream& operator<<(std::ostream& out, Errc code) {
  return out << (code == Errc{} ? "no error" : to_string(code));
}

}  // namespace holdfast

namespace holdfast::test {

// A task that was started, and what it came to.
template <typename T>
class Running {
 public:
  explicit Running(Task<T> task) {
    runtime::spawn(std::move(task), [slot = slot_](T&& value) { slot->emplace(std::move(value)); });
  }
  bool done() const { return slot_->has_value(); }
  T& result(std::source_location where = std::source_location::current()) {
    if (!done()) ADD_FAILURE_AT(where.file_name(), static_cast<int>(where.line())) << "not done";
    return slot_->value();
  }

 private:
  std::shared_ptr<std::optional<T>> slot_ = std::make_shared<std::optional<T>>();
};

// The error of a result that has to be one.
template <typename T>
Errc error_of(const Result<T>& result,
              std::source_location where = std::source_location::current()) {
  if (!result) return result.error().code;
  ADD_FAILURE_AT(where.file_name(), static_cast<int>(where.line())) << "succeeded";
  return {};
}

// The value of a result that has to have one.
template <typename T>
T value_of(Result<T> result, std::source_location where = std::source_location::current()) {
  if (!result) {
    ADD_FAILURE_AT(where.file_name(), static_cast<int>(where.line()))
        << to_string(result.error().code) << ": " << result.error().message;
  }
  if constexpr (!std::is_void_v<T>) return std::move(result.value());
}

}  // namespace holdfast::test
