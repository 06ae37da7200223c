// SPDX-License-Identifier: Apache-2.0
//
// What the statements of fence_sql.hpp do, on any database: a database only has to run them.
#pragma once

#include <holdfast/fence_sql.hpp>

#include "support/running.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::test {

struct SqlDone {
  long rows = 0;                     // that were touched
  std::optional<std::string> value;  // the first of the first row
};

class Database {
 public:
  virtual ~Database() = default;
  virtual SqlDialect dialect() const = 0;
  // Values in the order of the placeholders, as text. Throws what the database complains of.
  virtual SqlDone run(const std::string& text, const std::vector<std::string>& values = {}) = 0;
};

// Runs all of it; each database has one test that calls this.
void check_fences_in(Database& database);

}  // namespace holdfast::test
