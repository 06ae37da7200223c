// SPDX-License-Identifier: Apache-2.0
#include "cli/manual/man_page.hpp"

#include "cli/commands/commands.hpp"
#include "cli/declared.hpp"
#include "cli/holdfast_program.hpp"
#include "cli/manual/reference.hpp"
#include "cli/manual/roff.hpp"
#include "support/document.hpp"
#include "text/error_codes.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace holdfast::test {
namespace {

namespace fs = std::filesystem;

TEST(Roff, takes_nothing_in_a_text_for_a_request) {
  EXPECT_EQ(cli::roff_escaped("plain"), "plain");
  EXPECT_EQ(cli::roff_escaped("--store a\\b"), "\\-\\-store a\\eb");
  EXPECT_EQ(cli::roff_escaped(".config"), "\\&.config");
  EXPECT_EQ(cli::roff_escaped("'x'"), "\\&\\(aqx\\(aq");
  EXPECT_EQ(cli::roff_escaped("…"), "\\[u2026]");
}

TEST(Reference, says_of_each_code_what_the_page_says) {
  const auto page = read_document("errors.md");
  for (const auto& row : text::error_table()) {
    const auto begin = "| `" + std::string(row.word) + "` | " + std::to_string(row.exit_code);
    const auto at = page.find(begin);
    ASSERT_NE(at, std::string::npos) << begin;
    const auto line = page.substr(at, page.find('\n', at) - at);
    EXPECT_NE(line.find("| " + std::string(cli::meaning(row.code)) + " |"), std::string::npos)
        << line;
  }
}

class ManPages : public Cli {
 protected:
  void SetUp() override {
    fs::create_directory(path("man"));
    const auto made =
        holdfast({"man-pages", path("man")}, {.environment = {"SOURCE_DATE_EPOCH=0"}});
    ASSERT_EQ(made.code, 0) << made.err;
    EXPECT_EQ(made.out, "");
  }
  std::string page(const std::string& name) const {
    std::ifstream file(path("man/" + name));
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }
};

TEST_F(ManPages, are_there_for_every_command_that_is_shown) {
  std::size_t count = 1;
  EXPECT_TRUE(fs::exists(path("man/holdfast.1")));
  for (const auto* command : cli::all_commands()) {
    const auto name = cli::page_name(*command) + ".1";
    EXPECT_EQ(fs::exists(path("man/" + name)), !command->hidden) << name;
    if (!command->hidden) ++count;
    for (const auto* each : cli::subcommands_of(*command)) {
      EXPECT_TRUE(fs::exists(path("man/" + cli::page_name(*each) + ".1"))) << each->name;
      ++count;
    }
  }
  using Entries = fs::directory_iterator;
  EXPECT_EQ(static_cast<std::size_t>(std::distance(Entries(path("man")), Entries())), count);
}

TEST_F(ManPages, have_the_sections_that_readers_look_for) {
  for (const std::string name : {"holdfast.1", "holdfast-config.1", "holdfast-status.1"}) {
    for (const std::string section : {"NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS",
                                      "ENVIRONMENT", "FILES", "SEE ALSO"}) {
      EXPECT_NE(page(name).find(".SH " + section + "\n"), std::string::npos) << name << section;
    }
  }
  EXPECT_NE(page("holdfast.1").find("1970-01-01"), std::string::npos) << "builds are reproducible";
  for (const std::string code : {"64 bad_input", "74", "75 busy", "126", "127", "128+n"}) {
    EXPECT_NE(page("holdfast.1").find("\\fB" + code + "\\fR"), std::string::npos) << code;
  }
}

TEST_F(ManPages, please_a_strict_reader) {
  if (run({"sh", "-c", "command -v mandoc"}).code != 0) {
    GTEST_SKIP() << "mandoc is not installed; tools/install_packages test installs it";
  }
  for (const auto& entry : fs::directory_iterator(path("man"))) {
    const auto checked = run({"mandoc", "-Tlint", "-W", "warning", entry.path().string()});
    EXPECT_EQ(checked.code, 0) << entry.path();
    EXPECT_EQ(checked.out + checked.err, "");
  }
}

TEST_F(ManPages, cannot_be_written_to_a_folder_that_is_not_there) {
  const auto failed = holdfast({"man-pages", path("missing")});
  EXPECT_EQ(failed.code, 64);
  EXPECT_NE(failed.err.find("holdfast.1 cannot be written"), std::string::npos) << failed.err;
}

}  // namespace
}  // namespace holdfast::test
