// SPDX-License-Identifier: Apache-2.0
//
// Needs a server that `make test` does not install: tools/install_packages test_mariadb.
#include "own_server.hpp"
#include "sql_contract.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <csignal>
#include <stdexcept>

namespace holdfast::test {
namespace {

const std::vector<std::string> mariadb_folders{"/usr/sbin", "/usr/bin", "/usr/local/bin"};

class Mariadb final : public Database {
 public:
  Mariadb() {
    const auto made = test::run(folder_.as_user(
        {find_program("mariadb-install-db", mariadb_folders), "--no-defaults",
         "--datadir=" + data(), "--auth-root-authentication-method=normal", "--skip-test-db"}));
    if (made.code != 0) throw std::runtime_error("mariadb-install-db: " + made.out + made.err);
    server_ = std::make_unique<Program>(folder_.as_user(
        {find_program("mariadbd", mariadb_folders), "--no-defaults", "--datadir=" + data(),
         "--socket=" + socket(), "--skip-networking", "--pid-file=" + folder_.path() + "/pid"}));
    if (!server_->complains("ready for connections", std::chrono::seconds(60))) {
      throw std::runtime_error("mariadbd: " + server_->err());
    }
    run("CREATE DATABASE shop");
    schema_ = "shop";
  }
  Mariadb(const Mariadb&) = delete;
  Mariadb& operator=(const Mariadb&) = delete;
  ~Mariadb() override {
    server_->signal(SIGTERM);
    server_->wait();
  }

  SqlDialect dialect() const override { return SqlDialect::mysql; }

  SqlDone run(const std::string& text, const std::vector<std::string>& values = {}) override {
    std::string script = text;
    if (!values.empty()) {
      script = fmt::format("PREPARE one FROM {}; ", sql_text(text));
      std::vector<std::string> names;
      for (const auto& each : values) {
        names.push_back(fmt::format("@v{}", names.size()));
        script += fmt::format("SET {} = {}; ", names.back(), sql_text(each));
      }
      script += fmt::format("EXECUTE one USING {}", fmt::join(names, ", "));
    }
    const auto done =
        test::run({"mariadb", "--no-defaults", "--socket=" + socket(), "--user=root",
                   "--skip-column-names", "--batch", "--execute", script + "; SELECT ROW_COUNT()",
                   schema_.empty() ? "mysql" : schema_});
    if (done.code != 0) throw std::runtime_error(text + ": " + done.err);
    return understood(done.out);
  }

 private:
  std::string data() const { return folder_.path() + "/data"; }
  std::string socket() const { return folder_.path() + "/sock"; }

  // What was selected, if anything, and then how many rows were touched.
  static SqlDone understood(std::string out) {
    while (out.ends_with('\n')) out.pop_back();
    const auto before = out.rfind('\n');
    SqlDone done{.rows = std::max(0L, std::stol(out.substr(before + 1)))};
    if (before != std::string::npos) done.value = out.substr(0, before);
    return done;
  }

  ServerFolder folder_{"mysql"};
  std::unique_ptr<Program> server_;
  std::string schema_;
};

TEST(FenceMariadb, keeps_fences) {
  if (find_program("mariadbd", mariadb_folders).empty()) {
    GTEST_SKIP() << "MariaDB is not installed: tools/install_packages test_mariadb";
  }
  Mariadb database;
  check_fences_in(database);
}

}  // namespace
}  // namespace holdfast::test
