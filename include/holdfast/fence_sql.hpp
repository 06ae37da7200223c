// SPDX-License-Identifier: Apache-2.0
//
// Fences in a database: the check and the write are one statement, so that nothing fits between
// them. Holdfast makes the texts; running them is for the driver that the program has.
//
//   const FencedTable orders{SqlDialect::postgresql, "orders"};
//   add_fence_column(orders)          ALTER TABLE "orders" ADD COLUMN IF NOT EXISTS "fence" …
//   fenced_update(orders, {"state"})  UPDATE "orders" SET "state" = $1, "fence" = $2
//                                     WHERE "id" = $3 AND "fence" <= $2
//
// An update that touched no row was refused, or there is no such row: `newest_fence` tells. Names
// are quoted, so they mean exactly what they say, upper and lower case included. Bind the fence as
// a signed 64-bit number. Errors of all: bad_input, naming the field and the rule.
#pragma once

#include <holdfast/error.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast {

enum class SqlDialect : std::uint8_t { postgresql = 1, mysql, sqlite };  // mysql is MariaDB too

inline constexpr std::size_t max_sql_name_bytes = 63;  // what every one of them takes
inline constexpr std::size_t max_sql_columns = 500;

// A table of yours whose rows are the resources.
struct FencedTable {
  SqlDialect dialect = SqlDialect::postgresql;
  std::string_view table{};  // "orders" or "shop.orders"
  std::string_view key = "id";
  std::string_view fence = "fence";
};

struct SqlStatement {
  std::string text;
  // What to bind, in the order of the placeholders: names of columns, the key, the fence. In MySQL,
  // whose placeholders have no number, the fence may stand there twice.
  std::vector<std::string> parameters;
};

// The migration: a column that every row has from then on, at 0.
Result<std::string> add_fence_column(const FencedTable& table);

// Sets the columns of one row, unless a newer fence was there. Rows touched: 1, or 0 if it was
// refused or there is no such row. MySQL counts a row only if something in it changed, unless the
// connection was made with CLIENT_FOUND_ROWS: ask `newest_fence` where 0 matters.
Result<SqlStatement> fenced_update(const FencedTable& table,
                                   std::span<const std::string_view> columns);
Result<SqlStatement> fenced_update(const FencedTable& table,
                                   std::initializer_list<std::string_view> columns);

// The same, and inserts the row where there is none. Rows touched: 0 if it was refused. The key
// must be the primary key, or unique.
Result<SqlStatement> fenced_upsert(const FencedTable& table,
                                   std::span<const std::string_view> columns);
Result<SqlStatement> fenced_upsert(const FencedTable& table,
                                   std::initializer_list<std::string_view> columns);

// Deletes the row, unless a newer fence was there. The row took its fence with it: an older writer
// that inserts is not refused. Where that matters keep a table of fences.
Result<SqlStatement> fenced_delete(const FencedTable& table);

// The newest fence of a row: no row, there is none; above yours, you were refused.
Result<SqlStatement> newest_fence(const FencedTable& table);

// For resources that are no rows, or several at once: a table of fences. In one transaction raise
// the fence, look at it, and write only if it is yours; the transaction keeps others away until its
// end.
Result<std::string> create_fence_table(SqlDialect dialect,
                                       std::string_view table = "holdfast_fences");
Result<SqlStatement> raise_fence(SqlDialect dialect, std::string_view table = "holdfast_fences");
// Its table for newest_fence.
FencedTable fence_table(SqlDialect dialect, std::string_view table = "holdfast_fences");

}  // namespace holdfast
