// SPDX-License-Identifier: Apache-2.0
#include <holdfast/fence_sql.hpp>

#include "model/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace holdfast {

namespace {

using Columns = std::span<const std::string_view>;

Result<void> check_name(std::string_view field, std::string_view name) {
  const auto refuse = [&](std::string_view rule) {
    return fail(Errc::bad_input, fmt::format("{}: {}", field, rule));
  };
  if (name.empty()) return refuse("must not be empty");
  if (name.size() > max_sql_name_bytes) {
    return refuse(
        fmt::format("must be at most {} bytes long; got {}", max_sql_name_bytes, name.size()));
  }
  for (auto rest = name; !rest.empty();) {
    const auto point = model::first_code_point(rest);
    if (point.bytes == 0) return refuse("must be UTF-8");
    if (point.value < 0x20 || point.value == 0x7f) return refuse("must have no control characters");
    rest.remove_prefix(point.bytes);
  }
  // MySQL takes it away, and then it is another name.
  if (name.ends_with(' ')) return refuse("must not end with a space");
  return {};
}

// Everything that is known of the caller's names, checked and quoted.
struct Names {
  SqlDialect dialect;
  std::string table;  // with its schema
  std::string key;
  std::string fence;
  std::vector<std::string> columns;
};

std::string quote(SqlDialect dialect, std::string_view name) {
  const char mark = dialect == SqlDialect::mysql ? '`' : '"';
  std::string out(1, mark);
  for (const char each : name) {
    if (each == mark) out += mark;
    out += each;
  }
  return out + mark;
}

Result<std::string> quote_table(SqlDialect dialect, std::string_view table) {
  const auto dot = table.find('.');
  if (dot == std::string_view::npos) {
    if (auto good = check_name("table", table); !good) return std::unexpected(good.error());
    return quote(dialect, table);
  }
  const auto schema = table.substr(0, dot);
  const auto name = table.substr(dot + 1);
  if (name.contains('.')) {
    return fail(Errc::bad_input, "table: must be TABLE or SCHEMA.TABLE; got a second dot");
  }
  for (const auto part : {schema, name}) {
    if (auto good = check_name("table", part); !good) return std::unexpected(good.error());
  }
  return quote(dialect, schema) + '.' + quote(dialect, name);
}

bool is_known(SqlDialect dialect) {
  return dialect == SqlDialect::postgresql || dialect == SqlDialect::mysql ||
         dialect == SqlDialect::sqlite;
}

Result<void> check_columns(const FencedTable& table, Columns columns) {
  if (columns.size() > max_sql_columns) {
    return fail(Errc::bad_input, fmt::format("columns: must be at most {}; got {}", max_sql_columns,
                                             columns.size()));
  }
  std::set<std::string_view> seen{table.key, table.fence};
  if (seen.size() != 2) return fail(Errc::bad_input, "fence: must be another column than the key");
  for (const auto each : columns) {
    if (auto good = check_name("columns", each); !good) return good;
    if (!seen.insert(each).second) {
      return fail(
          Errc::bad_input,
          fmt::format("columns: '{}' stands there twice, or is the key or the fence", each));
    }
  }
  return {};
}

Result<Names> check(const FencedTable& table, Columns columns = {}) {
  if (!is_known(table.dialect)) {
    return fail(Errc::bad_input, "dialect: must be postgresql, mysql or sqlite");
  }
  auto quoted = quote_table(table.dialect, table.table);
  if (!quoted) return std::unexpected(std::move(quoted.error()));
  if (auto good = check_name("key", table.key); !good) return std::unexpected(good.error());
  if (auto good = check_name("fence", table.fence); !good) return std::unexpected(good.error());
  if (auto good = check_columns(table, columns); !good) return std::unexpected(good.error());
  Names names{table.dialect,
              std::move(*quoted),
              quote(table.dialect, table.key),
              quote(table.dialect, table.fence),
              {}};
  for (const auto each : columns) names.columns.push_back(quote(table.dialect, each));
  return names;
}

// Placeholders, and what has to be bound for them.
class Binds {
 public:
  explicit Binds(SqlDialect dialect) : dialect_(dialect) {}

  std::string operator()(std::string_view parameter) {
    if (dialect_ == SqlDialect::mysql) {
      names_.emplace_back(parameter);
      return "?";
    }
    auto found = std::ranges::find(names_, parameter);
    if (found == names_.end()) found = names_.insert(names_.end(), std::string(parameter));
    const auto number = found - names_.begin() + 1;
    return fmt::format("{}{}", dialect_ == SqlDialect::postgresql ? '$' : '?', number);
  }
  std::vector<std::string> take() { return std::move(names_); }

 private:
  const SqlDialect dialect_;
  std::vector<std::string> names_;
};

std::string on_conflict(const Names& names) {
  std::string sets;
  if (names.dialect == SqlDialect::mysql) {
    // MySQL sets from left to right and sees what it has set: the fence is last.
    for (const auto& each : names.columns) {
      sets += fmt::format("{0} = IF({1} <= VALUES({1}), VALUES({0}), {0}), ", each, names.fence);
    }
    return fmt::format(" ON DUPLICATE KEY UPDATE {0}{1} = GREATEST({1}, VALUES({1}))", sets,
                       names.fence);
  }
  for (const auto& each : names.columns) sets += fmt::format("{0} = EXCLUDED.{0}, ", each);
  return fmt::format(
      " ON CONFLICT ({0}) DO UPDATE SET {1}{2} = EXCLUDED.{2} WHERE {3}.{2} <= EXCLUDED.{2}",
      names.key, sets, names.fence, names.table);
}

}  // namespace

Result<std::string> add_fence_column(const FencedTable& table) {
  const auto names = check(table);
  if (!names) return std::unexpected(names.error());
  const bool knows_if = table.dialect == SqlDialect::postgresql;
  return fmt::format("ALTER TABLE {} ADD COLUMN {}{} BIGINT NOT NULL DEFAULT 0", names->table,
                     knows_if ? "IF NOT EXISTS " : "", names->fence);
}

Result<SqlStatement> fenced_update(const FencedTable& table, Columns columns) {
  const auto names = check(table, columns);
  if (!names) return std::unexpected(names.error());
  Binds bind(table.dialect);
  std::string sets;
  for (std::size_t at = 0; at < columns.size(); ++at) {
    sets += fmt::format("{} = {}, ", names->columns[at], bind(columns[at]));
  }
  sets += fmt::format("{} = {}", names->fence, bind(table.fence));
  const auto key = bind(table.key);
  auto text = fmt::format("UPDATE {} SET {} WHERE {} = {} AND {} <= {}", names->table, sets,
                          names->key, key, names->fence, bind(table.fence));
  return SqlStatement{std::move(text), bind.take()};
}

Result<SqlStatement> fenced_update(const FencedTable& table,
                                   std::initializer_list<std::string_view> columns) {
  return fenced_update(table, Columns(columns.begin(), columns.size()));
}

Result<SqlStatement> fenced_upsert(const FencedTable& table, Columns columns) {
  const auto names = check(table, columns);
  if (!names) return std::unexpected(names.error());
  Binds bind(table.dialect);
  std::string into = names->key;
  std::string values = bind(table.key);
  for (std::size_t at = 0; at < columns.size(); ++at) {
    into += ", " + names->columns[at];
    values += ", " + bind(columns[at]);
  }
  auto text = fmt::format("INSERT INTO {} ({}, {}) VALUES ({}, {}){}", names->table, into,
                          names->fence, values, bind(table.fence), on_conflict(*names));
  return SqlStatement{std::move(text), bind.take()};
}

Result<SqlStatement> fenced_upsert(const FencedTable& table,
                                   std::initializer_list<std::string_view> columns) {
  return fenced_upsert(table, Columns(columns.begin(), columns.size()));
}

Result<SqlStatement> fenced_delete(const FencedTable& table) {
  const auto names = check(table);
  if (!names) return std::unexpected(names.error());
  Binds bind(table.dialect);
  const auto key = bind(table.key);
  auto text = fmt::format("DELETE FROM {} WHERE {} = {} AND {} <= {}", names->table, names->key,
                          key, names->fence, bind(table.fence));
  return SqlStatement{std::move(text), bind.take()};
}

Result<SqlStatement> newest_fence(const FencedTable& table) {
  const auto names = check(table);
  if (!names) return std::unexpected(names.error());
  Binds bind(table.dialect);
  // A transaction of MySQL otherwise reads what was there when it began.
  const auto* const as_it_is = table.dialect == SqlDialect::mysql ? " FOR UPDATE" : "";
  auto text = fmt::format("SELECT {} FROM {} WHERE {} = {}{}", names->fence, names->table,
                          names->key, bind(table.key), as_it_is);
  return SqlStatement{std::move(text), bind.take()};
}

FencedTable fence_table(SqlDialect dialect, std::string_view table) {
  return {.dialect = dialect, .table = table, .key = "resource", .fence = "fence"};
}

Result<std::string> create_fence_table(SqlDialect dialect, std::string_view table) {
  const auto names = check(fence_table(dialect, table));
  if (!names) return std::unexpected(names.error());
  // Bytes in MySQL, where a text would be the same as another in upper case.
  const auto type = dialect == SqlDialect::mysql        ? "VARBINARY(512)"
                    : dialect == SqlDialect::postgresql ? "VARCHAR(512)"
                                                        : "TEXT";
  return fmt::format(
      "CREATE TABLE IF NOT EXISTS {} ({} {} NOT NULL PRIMARY KEY, {} BIGINT NOT NULL)",
      names->table, names->key, type, names->fence);
}

Result<SqlStatement> raise_fence(SqlDialect dialect, std::string_view table) {
  return fenced_upsert(fence_table(dialect, table), Columns{});
}

}  // namespace holdfast
