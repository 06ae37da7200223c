// SPDX-License-Identifier: Apache-2.0
//
// The texts themselves, and the names that are refused.
#include <holdfast/fence_sql.hpp>

#include "support/running.hpp"

#include <gtest/gtest.h>

namespace holdfast::test {
namespace {

using Names = std::vector<std::string>;

const FencedTable postgres{SqlDialect::postgresql, "orders"};
const FencedTable mysql{SqlDialect::mysql, "orders"};
const FencedTable sqlite{SqlDialect::sqlite, "orders"};

TEST(FenceSql, an_update_sets_the_columns_unless_a_newer_fence_is_there) {
  const auto statement = value_of(fenced_update(postgres, {"state", "total"}));
  EXPECT_EQ(statement.text, R"(UPDATE "orders" SET "state" = $1, "total" = $2, "fence" = $3 )"
                            R"(WHERE "id" = $4 AND "fence" <= $3)");
  EXPECT_EQ(statement.parameters, (Names{"state", "total", "fence", "id"}));
  EXPECT_EQ(value_of(fenced_update(sqlite, {"state"})).text,
            R"(UPDATE "orders" SET "state" = ?1, "fence" = ?2 WHERE "id" = ?3 AND "fence" <= ?2)");
}

TEST(FenceSql, mysql_numbers_no_placeholders_so_the_fence_is_bound_twice) {
  const auto statement = value_of(fenced_update(mysql, {"state"}));
  EXPECT_EQ(statement.text,
            "UPDATE `orders` SET `state` = ?, `fence` = ? WHERE `id` = ? AND `fence` <= ?");
  EXPECT_EQ(statement.parameters, (Names{"state", "fence", "id", "fence"}));
}

TEST(FenceSql, in_mysql_the_fence_is_raised_after_all_that_look_at_it) {
  const auto text = value_of(fenced_upsert(mysql, {"a", "b"})).text;
  EXPECT_EQ(text,
            "INSERT INTO `orders` (`id`, `a`, `b`, `fence`) VALUES (?, ?, ?, ?) ON DUPLICATE KEY "
            "UPDATE `a` = IF(`fence` <= VALUES(`fence`), VALUES(`a`), `a`), `b` = IF(`fence` <= "
            "VALUES(`fence`), VALUES(`b`), `b`), `fence` = GREATEST(`fence`, VALUES(`fence`))");
}

TEST(FenceSql, migrations_can_be_read) {
  EXPECT_EQ(value_of(add_fence_column(postgres)),
            R"(ALTER TABLE "orders" ADD COLUMN IF NOT EXISTS "fence" BIGINT NOT NULL DEFAULT 0)");
  EXPECT_EQ(value_of(add_fence_column(mysql)),
            "ALTER TABLE `orders` ADD COLUMN `fence` BIGINT NOT NULL DEFAULT 0");
  EXPECT_EQ(value_of(create_fence_table(SqlDialect::mysql)),
            "CREATE TABLE IF NOT EXISTS `holdfast_fences` (`resource` VARBINARY(512) NOT NULL "
            "PRIMARY KEY, `fence` BIGINT NOT NULL)");
}

TEST(FenceSql, a_name_cannot_leave_its_quotes) {
  EXPECT_EQ(value_of(newest_fence({SqlDialect::postgresql, "a\"; DROP TABLE b; --"})).text,
            R"(SELECT "fence" FROM "a""; DROP TABLE b; --" WHERE "id" = $1)");
  EXPECT_EQ(value_of(newest_fence({SqlDialect::mysql, "a`; DROP TABLE b; --", "i`d"})).text,
            "SELECT `fence` FROM `a``; DROP TABLE b; --` WHERE `i``d` = ? FOR UPDATE");
}

TEST(FenceSql, names_that_are_none_are_refused_with_the_field_and_the_rule) {
  const std::string longest(max_sql_name_bytes, 'x');
  EXPECT_TRUE(newest_fence({SqlDialect::postgresql, longest, longest + "", "f"}));
  const std::pair<FencedTable, std::string> bad[] = {
      {{SqlDialect::postgresql, ""}, "table: must not be empty"},
      {{SqlDialect::postgresql, "a."}, "table: must not be empty"},
      {{SqlDialect::postgresql, ".a"}, "table: must not be empty"},
      {{SqlDialect::postgresql, "a.b.c"}, "table: must be TABLE or SCHEMA.TABLE; got a second dot"},
      {{SqlDialect::postgresql, "a\nb"}, "table: must have no control characters"},
      {{SqlDialect::postgresql, std::string_view("a\0b", 3)},
       "table: must have no control characters"},
      {{SqlDialect::postgresql, "a\xff"}, "table: must be UTF-8"},
      {{SqlDialect::postgresql, "a "}, "table: must not end with a space"},
      {{SqlDialect::postgresql, "a", ""}, "key: must not be empty"},
      {{SqlDialect::postgresql, "a", "id", ""}, "fence: must not be empty"},
      {{SqlDialect::postgresql, "a", "id", "id"}, "fence: must be another column than the key"},
      {{SqlDialect{}, "a"}, "dialect: must be postgresql, mysql or sqlite"},
      {{SqlDialect{9}, "a"}, "dialect: must be postgresql, mysql or sqlite"},
  };
  for (const auto& [table, message] : bad) {
    EXPECT_EQ(error_of(add_fence_column(table)), Errc::bad_input) << message;
    EXPECT_EQ(fenced_update(table, {"x"}).error().message, message);
    EXPECT_EQ(fenced_upsert(table, {"x"}).error().message, message);
    EXPECT_EQ(fenced_delete(table).error().message, message);
    EXPECT_EQ(newest_fence(table).error().message, message);
  }
  const auto too_long = newest_fence({SqlDialect::postgresql, longest + "x"});
  EXPECT_EQ(too_long.error().message, "table: must be at most 63 bytes long; got 64");
}

TEST(FenceSql, columns_that_cannot_be_are_refused) {
  EXPECT_EQ(error_of(fenced_update(postgres, {""})), Errc::bad_input);
  for (const auto* column : {"id", "fence", "a"}) {
    const auto statement = fenced_update(postgres, {"a", column});
    EXPECT_EQ(error_of(statement), Errc::bad_input) << column;
    EXPECT_TRUE(statement.error().message.starts_with("columns: '")) << statement.error().message;
  }
  std::vector<std::string> names;
  for (std::size_t i = 0; i <= max_sql_columns; ++i) names.push_back("c" + std::to_string(i));
  std::vector<std::string_view> columns(names.begin(), names.end());
  EXPECT_EQ(fenced_update(postgres, columns).error().message,
            "columns: must be at most 500; got 501");
  columns.pop_back();
  EXPECT_TRUE(fenced_update(postgres, columns));
}

}  // namespace
}  // namespace holdfast::test
