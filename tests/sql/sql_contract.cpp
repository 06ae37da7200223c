// SPDX-License-Identifier: Apache-2.0
#include "sql_contract.hpp"

#include <map>

namespace holdfast::test {

namespace {

using Values = std::map<std::string, std::string>;

class Contract {
 public:
  explicit Contract(Database& database) : database_(database) {
    database_.run(
        orders_.dialect == SqlDialect::mysql
            ? "CREATE TABLE `Order ``s\"` (id INT PRIMARY KEY, `select` VARCHAR(20))"
            : "CREATE TABLE \"Order `s\"\"\" (id INT PRIMARY KEY, \"select\" VARCHAR(20))");
    database_.run(orders_.dialect == SqlDialect::mysql
                      ? "INSERT INTO `Order ``s\"` (id) VALUES (42)"
                      : "INSERT INTO \"Order `s\"\"\" (id) VALUES (42)");
    database_.run(value_of(add_fence_column(orders_)));
  }

  void all() {
    updates();
    upserts();
    deletes();
    fence_table_works();
    largest();
  }

 private:
  SqlDone run(const Result<SqlStatement>& statement, const Values& values) {
    EXPECT_TRUE(statement) << statement.error().message;
    std::vector<std::string> bound;
    for (const auto& each : statement->parameters) bound.push_back(values.at(each));
    return database_.run(statement->text, bound);
  }
  SqlDone update(const std::string& id, const std::string& state, const std::string& fence) {
    return run(fenced_update(orders_, {"select"}),
               {{"id", id}, {"select", state}, {"fence", fence}});
  }
  SqlDone upsert(const std::string& id, const std::string& state, const std::string& fence) {
    return run(fenced_upsert(orders_, {"select"}),
               {{"id", id}, {"select", state}, {"fence", fence}});
  }
  std::optional<std::string> fence_of(const std::string& id) {
    return run(newest_fence(orders_), {{"id", id}}).value;
  }
  std::string state_of(const std::string& id) {
    const bool is_mysql = orders_.dialect == SqlDialect::mysql;
    return database_
        .run(std::string(is_mysql ? "SELECT `select` FROM `Order ``s\"` WHERE id = "
                                  : "SELECT \"select\" FROM \"Order `s\"\"\" WHERE id = ") +
             id)
        .value.value_or("(none)");
  }

  void updates() {
    EXPECT_EQ(fence_of("42"), "0") << "a row that was there before the migration";
    EXPECT_EQ(update("42", "new", "7").rows, 1);
    EXPECT_EQ(update("42", "paid", "7").rows, 1) << "its holder writes twice";
    EXPECT_EQ(update("42", "sent", "8").rows, 1);
    EXPECT_EQ(update("42", "late", "7").rows, 0);
    EXPECT_EQ(state_of("42"), "sent");
    EXPECT_EQ(fence_of("42"), "8") << "which says that 7 was refused";
    EXPECT_EQ(update("43", "x", "9").rows, 0);
    EXPECT_EQ(fence_of("43"), std::nullopt) << "which says that there is no such row";
  }

  void upserts() {
    EXPECT_GE(upsert("50", "new", "7").rows, 1);
    EXPECT_GE(upsert("50", "paid", "7").rows, 1);
    EXPECT_GE(upsert("50", "sent", "8").rows, 1);
    EXPECT_EQ(upsert("50", "late", "7").rows, 0);
    EXPECT_EQ(state_of("50"), "sent");
    EXPECT_EQ(fence_of("50"), "8");
  }

  void deletes() {
    upsert("60", "new", "7");
    EXPECT_EQ(run(fenced_delete(orders_), {{"id", "60"}, {"fence", "6"}}).rows, 0);
    EXPECT_EQ(fence_of("60"), "7");
    EXPECT_EQ(run(fenced_delete(orders_), {{"id", "60"}, {"fence", "7"}}).rows, 1);
    EXPECT_EQ(fence_of("60"), std::nullopt);
  }

  void fence_table_works() {
    const auto dialect = orders_.dialect;
    for (int twice = 0; twice < 2; ++twice) database_.run(value_of(create_fence_table(dialect)));
    const auto raise = [&](const std::string& resource, const std::string& fence) {
      run(raise_fence(dialect), {{"resource", resource}, {"fence", fence}});
      return run(newest_fence(fence_table(dialect)), {{"resource", resource}}).value;
    };
    EXPECT_EQ(raise("printer", "7"), "7");
    EXPECT_EQ(raise("printer", "8"), "8");
    EXPECT_EQ(raise("printer", "7"), "8") << "not the caller's: refused";
    EXPECT_EQ(raise("PRINTER", "1"), "1") << "another resource";
    EXPECT_EQ(raise(std::string(512, 'x'), "1"), "1");
  }

  void largest() {
    EXPECT_EQ(update("42", "max", "9223372036854775807").rows, 1);
    EXPECT_EQ(update("42", "late", "9223372036854775806").rows, 0);
    EXPECT_EQ(fence_of("42"), "9223372036854775807");
  }

  Database& database_;
  const FencedTable orders_{.dialect = database_.dialect(), .table = "Order `s\""};
};

}  // namespace

void check_fences_in(Database& database) { Contract(database).all(); }

}  // namespace holdfast::test
