// SPDX-License-Identifier: Apache-2.0
#include "sql_contract.hpp"

#include <sqlite3.h>

#include <stdexcept>
#include <thread>

namespace holdfast::test {
namespace {

class Sqlite final : public Database {
 public:
  explicit Sqlite(const char* file = ":memory:") {
    check(sqlite3_open(file, &db_));
    sqlite3_busy_timeout(db_, 30'000);
  }
  Sqlite(const Sqlite&) = delete;
  Sqlite& operator=(const Sqlite&) = delete;
  ~Sqlite() override { sqlite3_close(db_); }

  SqlDialect dialect() const override { return SqlDialect::sqlite; }

  SqlDone run(const std::string& text, const std::vector<std::string>& values = {}) override {
    sqlite3_stmt* statement = nullptr;
    check(sqlite3_prepare_v2(db_, text.c_str(), -1, &statement, nullptr));
    const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> owned(statement, sqlite3_finalize);
    for (std::size_t at = 0; at < values.size(); ++at) {
      check(sqlite3_bind_text(statement, static_cast<int>(at) + 1, values[at].c_str(), -1,
                              SQLITE_TRANSIENT));
    }
    SqlDone done;
    const int stepped = sqlite3_step(statement);
    if (stepped == SQLITE_ROW) {
      const auto* column = reinterpret_cast<const char*>(sqlite3_column_text(statement, 0));
      if (column != nullptr) done.value = column;
    } else if (stepped != SQLITE_DONE) {
      check(stepped);
    }
    if (sqlite3_stmt_readonly(statement) == 0) done.rows = sqlite3_changes(db_);
    return done;
  }

 private:
  void check(int code) const {
    if (code != SQLITE_OK) throw std::runtime_error(sqlite3_errmsg(db_));
  }

  sqlite3* db_ = nullptr;
};

TEST(FenceSqlite, keeps_fences) {
  Sqlite database;
  check_fences_in(database);
}

TEST(FenceSqlite, a_schema_may_stand_before_the_table) {
  Sqlite database;
  database.run("ATTACH ':memory:' AS shop");
  database.run("CREATE TABLE shop.orders (id INTEGER PRIMARY KEY, state TEXT)");
  const FencedTable orders{SqlDialect::sqlite, "shop.orders"};
  database.run(value_of(add_fence_column(orders)));
  const auto upsert = value_of(fenced_upsert(orders, {"state"}));
  EXPECT_EQ(upsert.parameters, (std::vector<std::string>{"id", "state", "fence"}));
  EXPECT_EQ(database.run(upsert.text, {"1", "new", "7"}).rows, 1);
  EXPECT_EQ(database.run(upsert.text, {"1", "paid", "8"}).rows, 1);
  EXPECT_EQ(database.run("SELECT fence FROM shop.orders").value, "8");
  const auto late = fenced_update(orders, {"state"});
  EXPECT_EQ(database.run(value_of(late).text, {"late", "7", "1"}).rows, 0);
}

}  // namespace
}  // namespace holdfast::test
