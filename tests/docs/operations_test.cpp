// SPDX-License-Identifier: Apache-2.0
//
// What operators are given, against a real server: the table of metrics, the dashboard, the alerts
// and the unit of systemd.
#include "docs/repository.hpp"
#include "support/http_client.hpp"
#include "support/program.hpp"
#include "support/temporary_folder.hpp"
#include "text/config_node.hpp"

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

#include <cstdlib>
#include <regex>
#include <set>

namespace holdfast::test {
namespace {

namespace fs = std::filesystem;

std::set<std::string> all_matches(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  std::set<std::string> found;
  for (std::sregex_iterator it(text.begin(), text.end(), regex), end; it != end; ++it) {
    found.insert((*it)[1].str());
  }
  return found;
}

// /metrics of a fresh server, once it has looked at its store.
const std::string& exposition() {
  static const std::string text = [] {
    const TemporaryFolder folder;
    Program server(
        {HOLDFAST_BINARY, "--store", "memory:", "serve", "--listen", "127.0.0.1:0"},
        {.environment = {"HOME=" + folder.path().string(),
                         "HOLDFAST_SYSTEM_CONFIG=" + (folder.path() / "none").string()}});
    EXPECT_TRUE(server.complains("listening")) << server.err();
    std::smatch match;
    const std::string log = server.err();
    EXPECT_TRUE(std::regex_search(log, match, std::regex("address=(127[0-9.:]+)"))) << log;
    std::string body;
    eventually([&] {
      HttpConnection connection(match[1].str());
      connection.send(request_text({.method = "GET", .path = "/metrics"}, match[1].str()));
      body = connection.receive().body;
      return body.find("holdfast_held_locks ") != std::string::npos;
    });
    return body;
  }();
  return text;
}

const std::set<std::string>& metrics() {
  static const auto names = all_matches(exposition(), "# TYPE (holdfast_[a-z_]+) ");
  return names;
}

void expect_known_metrics(const std::string& text) {
  const auto used = all_matches(text, "\\b(holdfast_[a-z_]+)");
  EXPECT_FALSE(used.empty());
  static const std::regex parts("_(bucket|sum|count)$");
  for (const auto& name : used) {
    const auto whole = std::regex_replace(name, parts, "");
    EXPECT_TRUE(metrics().contains(name) || metrics().contains(whole)) << name;
  }
}

bool is_there(const std::string& program) {
  return std::system(("command -v " + program + " >/dev/null 2>&1").c_str()) == 0;
}

TEST(Operations, the_page_has_every_metric_and_no_other) {
  const auto page = read_text(repository() / "docs/operations.md");
  EXPECT_EQ(all_matches(page, "\\n\\| `(holdfast_[a-z_]+)` \\|"), metrics());
}

TEST(Operations, the_page_has_every_alert_and_no_other) {
  const auto page = read_text(repository() / "docs/operations.md");
  const auto alerts = read_text(repository() / "packaging/prometheus/alerts.yml");
  EXPECT_EQ(all_matches(page, "\\n\\| `(Holdfast[A-Za-z]+)` \\|"),
            all_matches(alerts, "alert: (Holdfast[A-Za-z]+)"));
}

TEST(Operations, the_alerts_are_yaml_and_use_metrics_that_are_there) {
  const auto path = repository() / "packaging/prometheus/alerts.yml";
  const auto alerts = text::ConfigNode::parse(read_text(path));
  ASSERT_TRUE(alerts) << alerts.error().message;
  const auto groups = alerts->find("groups").elements();
  ASSERT_FALSE(groups.empty());
  for (const auto& rule : groups.front().find("rules").elements()) {
    EXPECT_TRUE(rule.find("alert").is_scalar() && rule.find("expr").is_scalar());
    EXPECT_TRUE(rule.find("labels").find("severity").is_scalar());
    EXPECT_TRUE(rule.find("annotations").find("summary").is_scalar());
  }
  expect_known_metrics(read_text(path));
}

TEST(Operations, the_dashboard_is_json_and_uses_metrics_that_are_there) {
  const auto text = read_text(repository() / "packaging/grafana/holdfast.json");
  const auto dashboard = boost::json::parse(text);
  std::set<std::int64_t> ids;
  for (const auto& panel : dashboard.at("panels").as_array()) {
    EXPECT_TRUE(ids.insert(panel.at("id").as_int64()).second);
  }
  expect_known_metrics(text);
}

TEST(Operations, promtool_has_nothing_to_say) {
  if (!is_there("promtool")) GTEST_SKIP() << "promtool is not installed";
  const auto alerts = (repository() / "packaging/prometheus/alerts.yml").string();
  const auto rules = run({"promtool", "check", "rules", alerts});
  EXPECT_EQ(rules.code, 0) << rules.out << rules.err;
  const auto shown = run({"promtool", "check", "metrics"}, {.input = exposition()});
  EXPECT_EQ(shown.code, 0) << shown.out << shown.err;
}

TEST(Operations, systemd_accepts_the_unit) {
  if (!is_there("systemd-analyze")) GTEST_SKIP() << "systemd-analyze is not installed";
  const TemporaryFolder folder;
  const auto unit = (folder.path() / "holdfast.service").string();
  auto text = read_text(repository() / "packaging/systemd/holdfast.service.in");
  const std::string slot = "@HOLDFAST_PROGRAM@";
  text.replace(text.find(slot), slot.size(), HOLDFAST_BINARY);
  std::ofstream(unit) << text;
  const auto verified = run({"systemd-analyze", "verify", "--man=no", unit});
  EXPECT_EQ(verified.code, 0) << verified.err;
  EXPECT_EQ(verified.err.find("holdfast.service"), std::string::npos) << verified.err;
}

TEST(Operations, the_page_of_packages_has_the_limits_of_the_unit) {
  const auto page = read_text(repository() / "docs/packages.md");
  const auto unit = read_text(repository() / "packaging/systemd/holdfast.service.in");
  const std::string limits = "((?:Limit[A-Z]+|MemoryMax|TasksMax)=[0-9A-Z]+)";
  EXPECT_EQ(all_matches(page, "\\n\\| `" + limits + "` \\|"), all_matches(unit, "\\n" + limits));
}

}  // namespace
}  // namespace holdfast::test
