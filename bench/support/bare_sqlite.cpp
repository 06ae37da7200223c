// SPDX-License-Identifier: Apache-2.0
#include "support/bare_sqlite.hpp"

#include "support/bars.hpp"

namespace holdfast::bench {

namespace {

constexpr const char* set_up =
    "PRAGMA journal_mode = WAL;"
    "PRAGMA synchronous = NORMAL;"
    "CREATE TABLE locks (name TEXT PRIMARY KEY, owner TEXT NOT NULL, record BLOB NOT NULL)"
    " WITHOUT ROWID;";

void bind(sqlite3_stmt* statement, int place, std::string_view text) {
  sqlite3_bind_text(statement, place, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
}

}  // namespace

BareSqlite::BareSqlite(const std::string& folder) {
  if (sqlite3_open((folder + "/locks.db").c_str(), &db_) != SQLITE_OK ||
      sqlite3_exec(db_, set_up, nullptr, nullptr, nullptr) != SQLITE_OK) {
    give_up(sqlite3_errmsg(db_));
  }
  take_ = prepare("INSERT INTO locks VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING");
  give_back_ = prepare("DELETE FROM locks WHERE name = ?1 AND owner = ?2");
}

BareSqlite::~BareSqlite() {
  sqlite3_finalize(take_);
  sqlite3_finalize(give_back_);
  sqlite3_close(db_);
}

sqlite3_stmt* BareSqlite::prepare(const char* sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(db_, sql, -1, &statement, nullptr) != SQLITE_OK) {
    give_up(sqlite3_errmsg(db_));
  }
  return statement;
}

void BareSqlite::run_once(sqlite3_stmt* statement) {
  const bool done = sqlite3_step(statement) == SQLITE_DONE && sqlite3_changes(db_) == 1;
  if (!done) give_up(sqlite3_errmsg(db_));
  sqlite3_reset(statement);
}

void BareSqlite::take(std::string_view name, std::string_view owner, std::string_view record) {
  bind(take_, 1, name);
  bind(take_, 2, owner);
  sqlite3_bind_blob(take_, 3, record.data(), static_cast<int>(record.size()), SQLITE_STATIC);
  run_once(take_);
}

void BareSqlite::give_back(std::string_view name, std::string_view owner) {
  bind(give_back_, 1, name);
  bind(give_back_, 2, owner);
  run_once(give_back_);
}

}  // namespace holdfast::bench
