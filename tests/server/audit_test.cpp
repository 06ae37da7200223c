// SPDX-License-Identifier: Apache-2.0
#include "runtime/log.hpp"
#include "server/audit/audit_log.hpp"
#include "server/audit/file_audit.hpp"
#include "server/audit/memory_audit.hpp"
#include "support/document.hpp"
#include "support/temporary_folder.hpp"
#include "support/timing.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <fstream>
#include <iterator>
#include <thread>

namespace holdfast::server {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

AuditEntry entry(std::string name) { return {.what = "acquired", .name = std::move(name)}; }

std::vector<std::string> names(const AuditPage& page) {
  std::vector<std::string> all;
  for (const auto& entry : page.entries) {
    const auto* name = entry.if_contains("name");
    all.emplace_back(name ? std::string(name->as_string())
                          : std::string(entry.at("what").as_string()));
  }
  return all;
}

// Page by page to the end.
std::vector<std::string> everything(AuditLog& log, std::size_t limit) {
  std::vector<std::string> all;
  AuditQuery query{.limit = limit};
  do {
    const auto page = log.page(query).value();
    EXPECT_LE(page.entries.size(), limit);
    std::ranges::copy(names(page), std::back_inserter(all));
    query.cursor = page.next;
  } while (query.cursor);
  return all;
}

class AuditFileTest : public testing::Test {
 protected:
  std::unique_ptr<AuditLog> open(std::size_t max_queued = 16'384) {
    return FileAudit::open(options_, max_queued).value();
  }

  std::string content(const std::string& suffix = "") const {
    std::ifstream file(options_.file + suffix);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  void add_text(const std::string& text) const {
    std::ofstream(options_.file, std::ios::app) << text;
  }

  test::TemporaryFolder folder_;
  AuditOptions options_{.file = folder_.path() / "audit.jsonl"};
};

TEST(Audit, an_entry_is_as_documented) {
  const AuditEntry forced{.at = WallTime(1'794'778'200'250ms),
                          .what = "forced",
                          .name = "orders:42",
                          .fence = 1794778200250002,
                          .principal = "ops",
                          .client = "10.0.0.7:51234",
                          .reason = "stuck since noon",
                          .request_id = "5f0c8a1e"};
  const auto page = test::read_document("json.md");
  const auto begin = page.find("```json\n", page.find("\n## Audit entry\n")) + 8;
  const auto documented = page.substr(begin, page.find("```", begin) - begin);
  EXPECT_EQ(boost::json::serialize(to_json(forced, 1794778200250123)),
            boost::json::serialize(boost::json::parse(documented)));
}

TEST(Audit, without_a_file_the_newest_are_kept_in_memory) {
  MemoryAudit log(3);
  for (const auto* name : {"a", "b", "c", "d"}) log.append(entry(name));
  EXPECT_THAT(everything(log, 2), ElementsAre("d", "c", "b"));
  EXPECT_EQ(log.stats().written, 4U);
  EXPECT_TRUE(make_audit_log({}).value()->page({}).value().entries.empty());
}

TEST(Audit, a_limit_out_of_range_is_refused) {
  MemoryAudit log;
  for (const auto limit : {0, 1001}) {
    EXPECT_EQ(log.page({.limit = static_cast<std::size_t>(limit)}).error().code, Errc::bad_input);
  }
}

TEST(Audit, a_cursor_in_memory_stays_where_it_is_while_entries_come) {
  MemoryAudit log;
  for (const auto* name : {"a", "b", "c"}) log.append(entry(name));
  const auto first = log.page({.limit = 1}).value();
  log.append(entry("d"));
  EXPECT_THAT(names(log.page({.cursor = first.next}).value()), ElementsAre("b", "a"));
}

TEST_F(AuditFileTest, entries_are_lines_for_the_owners_eyes_only) {
  const auto log = open();
  log->append({.what = "denied", .name = "a", .reason = "line\nbreak \x01"});
  ASSERT_TRUE(log->flush(1min));
  EXPECT_THAT(content(), testing::EndsWith(R"("reason":"line\nbreak \u0001"})"
                                           "\n"));
  struct stat status{};
  ASSERT_EQ(stat(options_.file.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

TEST_F(AuditFileTest, a_file_that_cannot_be_opened_is_an_error) {
  options_.file = "/nowhere/audit.jsonl";
  EXPECT_EQ(make_audit_log(options_).error().code, Errc::unavailable);
}

TEST_F(AuditFileTest, what_was_appended_is_on_the_next_page_and_what_fits_only) {
  const auto log = open();
  for (const auto* name : {"a:1", "b:1", "a:2", ""}) log->append(entry(name));
  EXPECT_THAT(names(log->page({}).value()), ElementsAre("acquired", "a:2", "b:1", "a:1"));
  EXPECT_THAT(names(log->page({.prefix = "a:"}).value()), ElementsAre("a:2", "a:1"));
  const auto allowed = [](std::string_view name) { return name == "b:1"; };
  EXPECT_THAT(names(log->page({.allowed = allowed}).value()), ElementsAre("b:1"));
  EXPECT_EQ(log->page({.limit = 0}).error().code, Errc::bad_input);
}

TEST_F(AuditFileTest, pages_lead_to_the_end_over_three_files) {
  options_.max_file_bytes = 2'000;
  options_.kept_files = 2;
  const auto log = open();
  std::vector<std::string> expected;
  for (int i = 0; i < 60; ++i) {
    log->append(entry(std::to_string(i)));
    expected.insert(expected.begin(), std::to_string(i));
  }
  ASSERT_TRUE(log->flush(1min));
  for (const auto* suffix : {"", ".1", ".2"}) {
    EXPECT_FALSE(content(suffix).empty());
    EXPECT_LE(content(suffix).size(), 2'000U);
  }
  EXPECT_FALSE(std::filesystem::exists(options_.file + ".3"));
  // However many the writer took at a time, a file is left only when the next line does not fit.
  const auto longest = content().find('\n') + 1;
  for (const auto* suffix : {".1", ".2"}) EXPECT_GT(content(suffix).size() + longest, 2'000U);
  const auto all = everything(*log, 7);
  ASSERT_GT(all.size(), 40U);
  expected.resize(all.size());
  EXPECT_EQ(all, expected);
  EXPECT_EQ(everything(*log, 1'000), expected);
}

TEST_F(AuditFileTest, a_place_in_a_large_file_is_found_again) {
  std::vector<std::string> expected;
  {
    const auto log = open();
    for (int i = 0; i < 6'000; ++i) {
      auto one = entry(std::to_string(i));
      one.reason = std::string(i % 300, 'x');
      log->append(std::move(one));
      expected.insert(expected.begin(), std::to_string(i));
    }
    ASSERT_TRUE(log->flush(1min));
  }
  ASSERT_GT(content().size(), 10U * 64 * 1024);
  EXPECT_EQ(everything(*open(), 100), expected);
}

TEST_F(AuditFileTest, numbers_go_on_over_a_restart_and_a_cursor_stays_valid) {
  const auto first = [&] {
    const auto log = open();
    for (const auto* name : {"a", "b"}) log->append(entry(name));
    return log->page({.limit = 1}).value();
  }();
  const auto log = open();
  log->append(entry("c"));
  EXPECT_THAT(names(log->page({.cursor = first.next}).value()), ElementsAre("a"));
  const auto newest =
      log->page({.limit = 1}).value().entries[0].at("seq").to_number<std::uint64_t>();
  EXPECT_GT(newest, first.entries[0].at("seq").to_number<std::uint64_t>());
}

TEST_F(AuditFileTest, a_torn_last_line_is_skipped_and_counted) {
  open()->append(entry("a"));
  add_text(R"({"seq":99,"at":"2026-)");
  const auto log = open();
  EXPECT_EQ(log->stats().torn, 1U);
  log->append(entry("b"));
  const auto page = log->page({}).value();
  EXPECT_THAT(names(page), ElementsAre("b", "a"));
  EXPECT_EQ(page.unreadable, 1U);
}

TEST_F(AuditFileTest, lines_of_others_are_skipped_and_counted) {
  open()->append(entry("a"));
  add_text("hello\n\n[1]\n{\"seq\":5,\"name\":7}\n");
  EXPECT_EQ(open()->page({}).value().unreadable, 3U);
}

TEST_F(AuditFileTest, a_file_that_was_moved_away_is_opened_anew) {
  const auto log = open();
  log->append(entry("a"));
  ASSERT_TRUE(log->flush(1min));
  std::filesystem::rename(options_.file, folder_.path() / "moved");
  log->reopen();
  log->append(entry("b"));
  ASSERT_TRUE(log->flush(1min));
  EXPECT_THAT(names(log->page({}).value()), ElementsAre("b"));
}

int warnings = 0;

class AuditTroubleTest : public AuditFileTest {
 protected:
  void SetUp() override {
    warnings = 0;
    runtime::send_warnings_to([](std::string_view) { ++warnings; });
  }
  void TearDown() override { runtime::send_warnings_to(nullptr); }
};

TEST_F(AuditTroubleTest, a_full_disk_stops_nobody_and_the_log_says_what_it_lacks) {
  std::filesystem::create_symlink("/dev/full", options_.file);
  const auto log = open(3);
  for (int i = 0; i < 10; ++i) log->append(entry(std::to_string(i)));
  EXPECT_TRUE(test::eventually([&] { return log->stats().failing; }));
  EXPECT_FALSE(log->flush(50ms));
  EXPECT_EQ(log->stats().dropped, 7U);
  EXPECT_EQ(warnings, 1);

  std::filesystem::remove(options_.file);
  log->reopen();
  ASSERT_TRUE(log->flush(1min));
  log->append(entry("after"));
  const auto page = log->page({}).value();
  EXPECT_THAT(names(page), ElementsAre("after", "entries_dropped", "2", "1", "0"));
  EXPECT_EQ(page.entries[1].at("reason").as_string(), "7");
  EXPECT_FALSE(log->stats().failing);
}

TEST_F(AuditTroubleTest, a_line_that_did_not_fit_on_the_disk_is_written_whole_later) {
  auto log = open();
  log->append(entry("a"));
  ASSERT_TRUE(log->flush(1min));
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small = before;
  small.rlim_cur = content().size() + 10;
  setrlimit(RLIMIT_FSIZE, &small);
  log->append(entry("b"));
  const bool has_failed = test::eventually([&] { return log->stats().failing; });
  setrlimit(RLIMIT_FSIZE, &before);
  (void)std::signal(SIGXFSZ, handler);
  EXPECT_TRUE(has_failed);
  EXPECT_TRUE(content().ends_with('\n'));
  log->reopen();
  ASSERT_TRUE(log->flush(1min));
  const auto page = log->page({}).value();
  EXPECT_THAT(names(page), ElementsAre("b", "a"));
  EXPECT_EQ(page.unreadable, 0U);
}

TEST_F(AuditTroubleTest, what_cannot_be_written_at_the_end_is_told) {
  std::filesystem::create_symlink("/dev/full", options_.file);
  open()->append(entry("a"));
  EXPECT_EQ(warnings, 2);
}

TEST_F(AuditFileTest, eight_threads_append_while_files_rotate_and_pages_are_read) {
  options_.max_file_bytes = 20'000;
  options_.kept_files = 200;
  constexpr int each = 1'000;
  const auto log = open();
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&log, t] {
        for (int i = 0; i < each; ++i) log->append(entry(fmt::format("{}:{}", t, i)));
      });
    }
    for (int i = 0; i < 20; ++i) EXPECT_EQ(log->page({.limit = 1'000}).value().unreadable, 0U);
  }
  ASSERT_TRUE(log->flush(1min));
  EXPECT_EQ(log->stats().dropped, 0U);
  std::vector<int> last(8, each);
  const auto all = everything(*log, 1'000);
  EXPECT_THAT(all, SizeIs(8 * each));
  for (const auto& name : all) {
    auto& expected = last[static_cast<std::size_t>(name[0] - '0')];
    EXPECT_EQ(std::stoi(name.substr(2)), --expected);
  }
}

}  // namespace
}  // namespace holdfast::server
