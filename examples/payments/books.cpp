// SPDX-License-Identifier: Apache-2.0
#include "books.hpp"

#include <sqlite3.h>

#include <stdexcept>

namespace payments {

namespace {

constexpr int busy_ms = 10'000;

struct Finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};

void check(int code, sqlite3* database) {
  const bool is_fine = code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE;
  if (!is_fine) throw std::runtime_error(sqlite3_errmsg(database));
}

}  // namespace

void Books::Close::operator()(sqlite3* database) const { sqlite3_close(database); }

Books::Books(const std::string& path, const Layers& layers) : layers_(layers) {
  sqlite3* opened = nullptr;
  const int code = sqlite3_open(path.c_str(), &opened);
  database_.reset(opened);
  check(code, opened);
  sqlite3_busy_timeout(opened, busy_ms);
  // The last layer: the database itself refuses a second payment of one order.
  const std::string unique = layers.constraint ? "UNIQUE" : "";
  run(("BEGIN IMMEDIATE;"
       "CREATE TABLE IF NOT EXISTS accounts("
       "  name TEXT PRIMARY KEY, balance INTEGER NOT NULL, fence INTEGER NOT NULL DEFAULT 0);"
       "CREATE TABLE IF NOT EXISTS payments("
       "  order_id TEXT NOT NULL " +
       unique + ", account TEXT NOT NULL, amount INTEGER NOT NULL);COMMIT;")
          .c_str());
}

void Books::run(const char* statements) const {
  check(sqlite3_exec(database_.get(), statements, nullptr, nullptr, nullptr), database_.get());
}

std::int64_t Books::ask(const std::string& statement,
                        const std::vector<std::string>& values) const {
  sqlite3_stmt* made = nullptr;
  check(sqlite3_prepare_v2(database_.get(), statement.c_str(), -1, &made, nullptr),
        database_.get());
  const std::unique_ptr<sqlite3_stmt, Finalize> prepared(made);
  for (std::size_t at = 0; at < values.size(); ++at) {
    check(
        sqlite3_bind_text(made, static_cast<int>(at) + 1, values[at].c_str(), -1, SQLITE_TRANSIENT),
        database_.get());
  }
  const int code = sqlite3_step(made);
  check(code, database_.get());
  return code == SQLITE_ROW ? sqlite3_column_int64(made, 0) : sqlite3_changes(database_.get());
}

void Books::open_account(const std::string& account, std::int64_t balance) {
  ask("INSERT INTO accounts(name, balance) VALUES(?, ?)", {account, std::to_string(balance)});
}

std::int64_t Books::balance(const std::string& account) const {
  return ask("SELECT balance FROM accounts WHERE name = ?", {account});
}

std::int64_t Books::times_paid(const std::string& order) const {
  return ask("SELECT count(*) FROM payments WHERE order_id = ?", {order});
}

std::int64_t Books::spent(const std::string& account) const {
  return ask("SELECT coalesce(sum(amount), 0) FROM payments WHERE account = ?", {account});
}

Booked Books::book(const std::string& order, const Account& after, std::int64_t amount,
                   holdfast::Fence fence) {
  run("BEGIN IMMEDIATE");
  try {
    const auto paid =
        ask(layers_.constraint ? "INSERT INTO payments(order_id, account, amount) VALUES(?, ?, ?)"
                                 " ON CONFLICT(order_id) DO NOTHING"
                               : "INSERT INTO payments(order_id, account, amount) VALUES(?, ?, ?)",
            {order, after.name, std::to_string(amount)});
    // Of an account that has seen a newer holder no row is left to change.
    const auto changed =
        layers_.fence ? ask("UPDATE accounts SET balance = ?1, fence = ?2 WHERE name = ?3"
                            " AND fence <= CAST(?2 AS INTEGER)",
                            {std::to_string(after.balance), std::to_string(fence), after.name})
                      : ask("UPDATE accounts SET balance = ? WHERE name = ?",
                            {std::to_string(after.balance), after.name});
    const bool is_done = paid == 1 && changed == 1;
    run(is_done ? "COMMIT" : "ROLLBACK");
    if (is_done) return Booked::paid;
    return paid == 0 ? Booked::paid_before : Booked::too_old;
  } catch (...) {
    sqlite3_exec(database_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
    throw;
  }
}

}  // namespace payments
