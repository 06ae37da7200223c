// SPDX-License-Identifier: Apache-2.0
#include "own_server.hpp"
#include "sql_contract.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <csignal>
#include <stdexcept>

namespace holdfast::test {
namespace {

std::vector<std::string> postgresql_folders() {
  std::vector<std::string> all;
  const std::filesystem::path versions = "/usr/lib/postgresql";
  if (!std::filesystem::exists(versions)) return {"/usr/bin"};
  for (const auto& each : std::filesystem::directory_iterator(versions)) {
    all.push_back(each.path() / "bin");
  }
  return all;
}

class Postgres final : public Database {
 public:
  Postgres() {
    const auto made =
        test::run(folder_.as_user({program("initdb"), "--pgdata", data(), "--auth", "trust",
                                   "--username", "postgres", "--no-sync", "--locale", "C.UTF-8"}));
    if (made.code != 0) throw std::runtime_error("initdb: " + made.err);
    server_ = std::make_unique<Program>(
        folder_.as_user({program("postgres"), "-D", data(), "-k", folder_.path(), "-c",
                         "listen_addresses=", "-c", "fsync=off"}));
    if (!server_->complains("ready to accept connections", std::chrono::seconds(30))) {
      throw std::runtime_error("postgres: " + server_->err());
    }
  }
  Postgres(const Postgres&) = delete;
  Postgres& operator=(const Postgres&) = delete;
  ~Postgres() override {
    server_->signal(SIGINT);
    server_->wait();
  }

  SqlDialect dialect() const override { return SqlDialect::postgresql; }

  SqlDone run(const std::string& text, const std::vector<std::string>& values = {}) override {
    std::vector<std::string> words{"psql",       "--no-psqlrc", "--host",     folder_.path(),
                                   "--username", "postgres",    "--no-align", "--tuples-only"};
    if (values.empty()) {
      words.insert(words.end(), {"--command", text});
    } else {
      std::vector<std::string> literals;
      for (const auto& each : values) literals.push_back(sql_text(each));
      words.insert(words.end(), {"--command", "PREPARE one AS " + text, "--command",
                                 fmt::format("EXECUTE one({})", fmt::join(literals, ", "))});
    }
    const auto done = test::run(words);
    if (done.code != 0) throw std::runtime_error(text + ": " + done.err);
    return understood(done.out);
  }

 private:
  static std::string program(const std::string& name) {
    const auto path = find_program(name, postgresql_folders());
    if (path.empty()) throw std::runtime_error("PostgreSQL is not installed: no " + name);
    return path;
  }
  std::string data() const { return folder_.path() + "/data"; }

  // "UPDATE 1", "INSERT 0 1", or what was selected.
  static SqlDone understood(std::string out) {
    while (out.ends_with('\n')) out.pop_back();
    const auto last = out.substr(out.rfind('\n') + 1);
    for (const auto* tag : {"UPDATE ", "INSERT 0 ", "DELETE "}) {
      if (last.starts_with(tag)) return {.rows = std::stol(last.substr(std::string(tag).size()))};
    }
    const bool is_nothing = last.empty() || last == "PREPARE";
    return is_nothing ? SqlDone{} : SqlDone{.rows = 0, .value = last};
  }

  ServerFolder folder_{"postgres"};
  std::unique_ptr<Program> server_;
};

TEST(FencePostgresql, keeps_fences) {
  Postgres database;
  check_fences_in(database);
  // Twice does no harm, and a schema may stand before the table.
  const FencedTable orders{SqlDialect::postgresql, "shop.orders"};
  database.run("CREATE SCHEMA shop");
  database.run("CREATE TABLE shop.orders (id BIGINT PRIMARY KEY, state TEXT)");
  for (int twice = 0; twice < 2; ++twice) database.run(value_of(add_fence_column(orders)));
  const auto upsert = value_of(fenced_upsert(orders, {"state"}));
  EXPECT_EQ(database.run(upsert.text, {"1", "new", "7"}).rows, 1);
  EXPECT_EQ(database.run(upsert.text, {"1", "late", "6"}).rows, 0);
  EXPECT_EQ(database.run("SELECT state FROM shop.orders").value, "new");
}

}  // namespace
}  // namespace holdfast::test
