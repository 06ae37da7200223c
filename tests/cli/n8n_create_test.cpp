// SPDX-License-Identifier: Apache-2.0
#include "cli/n8n_program.hpp"

#include <boost/json/parse.hpp>

namespace holdfast::test {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

TEST_F(N8n, create_lock_writes_workflows_that_n8n_imports) {
  const auto made = n8n({"create-lock", path("flows"), "--env", path("env.yml")});
  EXPECT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(made.out,
            path("flows/lock_acquisition.json") + "\n" + path("flows/lock_release.json") + "\n");
  const auto workflow = json::parse(read("flows/lock_acquisition.json"));
  EXPECT_EQ(workflow.at("id"), "wf1");
  EXPECT_EQ(workflow.at("name"), "Lock Acquisition");
  EXPECT_EQ(workflow.at("active"), false);
  EXPECT_EQ(workflow.at("nodes").at(2).at("credentials").at("redis").at("id"), "cred1");
  EXPECT_EQ(read("flows/lock_acquisition.json").find("{{@"), std::string::npos);
}

TEST_F(N8n, create_lock_writes_the_others_if_asked_to) {
  const auto made = n8n({"create-lock", path("flows"), "--env", path("env.yml"), "--json",
                         "--include-error-handler", "--include-rate-limit"});
  EXPECT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(json::parse(made.out).at("files").as_array().size(), 4U);
  const auto handler = read("flows/error_handler_lock_cleanup.json");
  EXPECT_NE(handler.find(R"(const lockScopes = [\"known\"];)"), std::string::npos);
  EXPECT_TRUE(fs::exists(path("flows/rate_limit_check.json")));
}

TEST_F(N8n, create_lock_leaves_placeholders_in_a_template) {
  EXPECT_EQ(n8n({"create-lock", path("flows"), "--template"}).code, 0);
  const auto text = read("flows/lock_release.template.json");
  EXPECT_NE(text.find("{{@env:credentials.redis.id}}"), std::string::npos);
  EXPECT_NE(text.find("{{@uuid:lr-trigger}}"), std::string::npos);
  EXPECT_FALSE(json::parse(text).as_object().contains("id"));
}

TEST_F(N8n, create_lock_goes_through_a_server_if_told_to) {
  EXPECT_EQ(n8n({"create-lock", path("a"), "--env", path("env.yml"), "--via-server"}).code, 0);
  auto text = read("a/lock_release.json");
  EXPECT_NE(text.find("\"http://127.0.0.1:3009/n8n/lock_release\""), std::string::npos) << text;
  EXPECT_EQ(text.find("httpHeaderAuth"), std::string::npos);
  auto env = read("env.yml");
  env.replace(env.find("  redis: {"), 0, "  holdfast: {id: cred2, name: Holdfast}\n");
  write("env.yml", env);
  EXPECT_EQ(n8n({"create-lock", path("b"), "--env", path("env.yml"), "--via-server",
                 "https://locks.example.org/"})
                .code,
            0);
  text = read("b/lock_release.json");
  EXPECT_NE(text.find("\"https://locks.example.org/n8n/lock_release\""), std::string::npos) << text;
  EXPECT_NE(text.find("\"cred2\""), std::string::npos);
}

TEST_F(N8n, create_lock_replaces_nothing_unless_it_is_forced) {
  const std::vector<std::string> words{"create-lock", path("flows"), "--env", path("env.yml")};
  ASSERT_EQ(n8n(words).code, 0);
  const auto first = read("flows/lock_release.json");
  fs::remove(path("flows/lock_acquisition.json"));
  write("flows/lock_release.json", "mine");
  expect_refused(words, "lock_release.json exists already; --force-overwrite replaces it");
  auto forced = words;
  forced.emplace_back("--force-overwrite");
  EXPECT_EQ(n8n(forced).code, 0);
  EXPECT_EQ(read("flows/lock_release.json"), first);
  EXPECT_EQ(everything().size(), 5U) << "nothing is left beside them";
}

TEST_F(N8n, create_lock_refuses_bad_input_and_writes_nothing) {
  const auto env = path("env.yml");
  write("holes.yml", "credentials: {redis: {id: your-id}}\nworkflows: {lock_release: {id: ''}}\n");
  write("broken.yml", "a: [\n");
  expect_refused({"create-lock"}, "DIR is missing");
  expect_refused({"create-lock", path("x")}, "--env FILE.yml is needed");
  expect_refused({"create-lock", path("x"), "--env", env, "--template"}, "give one of them");
  expect_refused({"create-lock", path("x"), "--env", path("none.yml")}, "none.yml: cannot be read");
  expect_refused({"create-lock", path("x"), "--env", path("")}, "must be a regular file");
  expect_refused({"create-lock", path("x"), "--env", path("broken.yml")}, "broken.yml:");
  expect_refused({"create-lock", path("x"), "--env", path("holes.yml")},
                 "missing, or only examples: workflows.lock_acquisition.id, credentials.redis.id, "
                 "credentials.redis.name, workflows.lock_release.id");
  expect_refused({"create-lock", "--env", env, path("x"), "--via-server", "localhost"},
                 "--via-server \"localhost\": the URL begins with http:// or https://");
  expect_refused({"create-lock", path("env.yml"), "--env", env}, "no such folder can be made");
  expect_refused({"create-lock", path("x"), "--env", env, "--evn"}, "unknown option \"--evn\"");
  write("long.yml", std::string(1024 * 1024 + 1, '#'));
  expect_refused({"create-lock", path("x"), "--env", path("long.yml")}, "max_env_bytes", 87);
}

TEST_F(N8n, copy_primitive_lists_and_writes_templates) {
  const auto listed = n8n({"copy-primitive", "--list"});
  EXPECT_EQ(listed.code, 0);
  EXPECT_NE(listed.out.find("rate_limit_check"), std::string::npos);
  EXPECT_EQ(json::parse(n8n({"copy-primitive", "--list", "--json"}).out)
                .at("primitives")
                .as_array()
                .size(),
            4U);
  const auto file = path("rate_limit_check.template.json");
  EXPECT_EQ(n8n({"copy-primitive", "rate_limit_check", path("")}).out, file + "\n");
  EXPECT_EQ(json::parse(read("rate_limit_check.template.json")).at("nodes").as_array().size(), 4U);
  expect_refused({"copy-primitive", "rate_limit_check", path("")},
                 "exists already; --force-overwrite replaces it");
  EXPECT_EQ(n8n({"copy-primitive", "rate_limit_check", path(""), "--force-overwrite"}).code, 0);
  expect_refused({"copy-primitive"}, "PRIMITIVE is missing");
  expect_refused({"copy-primitive", "lock_release"}, "DIR is missing");
  expect_refused({"copy-primitive", "lock_relase", path("")}, "did you mean 'lock_release'?");
  expect_refused({"copy-primitive", "lock_release", path("none")}, "is not a folder");
  expect_refused({"copy-primitive", "lock_release", path(""), "--list"}, "--list stands alone");
}

TEST_F(N8n, is_a_command_with_subcommands) {
  expect_refused({}, "SUBCOMMAND is missing; see 'holdfast n8n --help'");
  expect_refused({"ad-lock"}, "unknown subcommand \"ad-lock\"; did you mean 'add-lock'?");
  expect_refused({"nonsense"}, "unknown subcommand \"nonsense\"; see 'holdfast n8n --help'");
  const auto shown = n8n({"add-lock", "--help"});
  EXPECT_EQ(shown.code, 0);
  EXPECT_TRUE(shown.out.starts_with("usage: holdfast n8n add-lock [OPTIONS] FILE")) << shown.out;
  EXPECT_EQ(holdfast({"help", "n8n", "add-lock"}).out, shown.out);
  EXPECT_EQ(holdfast({"--json", "n8n", "--quiet", "add-lock", "--help"}).out, shown.out);
  EXPECT_NE(n8n({"--help"}).out.find("add-rate-limit"), std::string::npos);
  EXPECT_EQ(holdfast({"help", "n8n", "nonsense"}).code, 64);
  EXPECT_EQ(holdfast({"help", "config", "nonsense"}).code, 64);
}

}  // namespace
}  // namespace holdfast::test
