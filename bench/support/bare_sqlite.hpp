// SPDX-License-Identifier: Apache-2.0
//
// What one would write instead of `file:`: a table of locks in SQLite, with a write-ahead log and
// synchronous=NORMAL, which survives a killed process but not every power cut.
#pragma once

#include <sqlite3.h>

#include <string>
#include <string_view>

namespace holdfast::bench {

class BareSqlite {
 public:
  explicit BareSqlite(const std::string& folder);
  BareSqlite(const BareSqlite&) = delete;
  BareSqlite& operator=(const BareSqlite&) = delete;
  ~BareSqlite();

  // Inserts if free, in one transaction; ends the program if it was not.
  void take(std::string_view name, std::string_view owner, std::string_view record);
  // Deletes what this owner has, in another.
  void give_back(std::string_view name, std::string_view owner);

 private:
  sqlite3_stmt* prepare(const char* sql);
  void run_once(sqlite3_stmt* statement);

  sqlite3* db_ = nullptr;
  sqlite3_stmt* take_ = nullptr;
  sqlite3_stmt* give_back_ = nullptr;
};

}  // namespace holdfast::bench
