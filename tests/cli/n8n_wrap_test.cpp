// SPDX-License-Identifier: Apache-2.0
#include "cli/n8n_program.hpp"

#include <boost/json/parse.hpp>
#include <sys/stat.h>

namespace holdfast::test {
namespace {

namespace json = boost::json;
using Words = std::vector<std::string>;

class N8nWrap : public N8n {
 protected:
  Words add_lock(Words more) const {
    Words words{"add-lock", path("flow.json")};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  Words add_rate_limit(Words more) const {
    Words words{"add-rate-limit", path("flow.json")};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  json::value node(const std::string& file, const std::string& name) const {
    const auto workflow = json::parse(read(file));
    for (const auto& each : workflow.at("nodes").as_array()) {
      if (each.at("name") == json::string(name)) return each;
    }
    ADD_FAILURE() << "there is no " << name;
    return {};
  }
};

TEST_F(N8nWrap, add_lock_changes_the_file_and_registers_the_scope) {
  ASSERT_EQ(::chmod(path("flow.json").c_str(), 0640), 0);
  const auto added = n8n(add_lock({"--scope-expression", "orders", "--env", path("env.yml")}));
  EXPECT_EQ(added.code, 0) << added.err;
  EXPECT_EQ(added.out, path("flow.json") + ": scope ={{ \"orders\" }}\n");
  EXPECT_NE(added.err.find("scope \"orders\" is registered in lockScopes"), std::string::npos);
  const auto inputs =
      node("flow.json", "Lock Acquire").at("parameters").at("workflowInputs").at("value");
  EXPECT_EQ(inputs.at("ttl_seconds"), 86400);
  EXPECT_EQ(inputs.at("max_wait_seconds"), 86400);
  EXPECT_EQ(inputs.at("wait_till_lock_released"), true);
  EXPECT_EQ(inputs.as_object().size(), 8U);
  EXPECT_EQ(node("flow.json", "Lock Release").at("parameters").at("workflowId").at("value"), "wf2");
  EXPECT_NE(read("env.yml").find("lockScopes: [known, \"orders\"]  # by hand\n"),
            std::string::npos);
  struct stat file{};
  ASSERT_EQ(::stat(path("flow.json").c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 07777U, 0640U);
  EXPECT_EQ(everything().size(), 2U) << "nothing is left beside them";
  expect_refused(add_lock({"--scope-expression", "orders"}), "it is under a lock");
}

TEST_F(N8nWrap, add_lock_takes_its_options) {
  const auto added = n8n(add_lock({"--scope-expression", "={{ $json.id }}", "--ttl-seconds", "600",
                                   "--max-wait-seconds=0", "--fail-fast", "--lock-on-error",
                                   "--env", path("env.yml"), "--json"}));
  EXPECT_EQ(added.code, 0) << added.err;
  const auto result = json::parse(added.out);
  EXPECT_EQ(result.at("registered"), false);
  EXPECT_EQ(result.at("scope"), "={{ $json.id }}");
  EXPECT_EQ(result.at("notes").as_array().size(), 1U);
  const auto inputs =
      node("flow.json", "Lock Acquire").at("parameters").at("workflowInputs").at("value");
  EXPECT_EQ(inputs.at("ttl_seconds"), 600);
  EXPECT_EQ(inputs.at("max_wait_seconds"), 0);
  EXPECT_EQ(inputs.at("wait_till_lock_released"), false);
  EXPECT_EQ(json::parse(read("flow.json")).at("settings").at("errorWorkflow"), "wf3");
}

TEST_F(N8nWrap, add_lock_writes_placeholders_where_there_are_no_ids) {
  const auto before = read("flow.json");
  const auto shown = n8n(add_lock({"--scope-expression", "orders", "--output", "-"}));
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_NE(shown.out.find("{{@env:workflows.lock_acquisition.id}}"), std::string::npos);
  EXPECT_EQ(shown.out.find("{{@uuid:"), std::string::npos);
  EXPECT_NE(shown.err.find("--env FILE.yml fills them in"), std::string::npos) << shown.err;
  EXPECT_EQ(read("flow.json"), before);
  // In a template everything stays open, with --env too.
  auto text = before;
  text.replace(text.find("\"Flow\""), 6, "\"{{@env:displayName}} Flow\"");
  write("flow.json", text);
  ASSERT_EQ(n8n(add_lock({"--scope-expression", "orders", "--env", path("env.yml"), "--output",
                          path("new.json")}))
                .code,
            0);
  EXPECT_NE(read("new.json").find("{{@uuid:lock-acquire}}"), std::string::npos);
  EXPECT_EQ(read("flow.json"), text);
}

TEST_F(N8nWrap, add_lock_refuses_bad_input_and_changes_nothing) {
  const auto with_scope = [&](Words more) {
    more.insert(more.begin(), {"--scope-expression", "orders"});
    return add_lock(more);
  };
  const auto whole = [](const std::string& name, const std::string& least) {
    return name + ": must be a whole number from " + least + " to 315360000";
  };
  expect_refused({"add-lock"}, "is missing");
  expect_refused(add_lock({}), "--scope-expression is missing");
  expect_refused(add_lock({"--scope-expression", ""}), "--scope-expression");
  expect_refused(add_lock({"--scope-expression", " "}), "non-empty");
  expect_refused(add_lock({"--scope-expression", "x:meta"}), "ends in \":meta\"");
  for (const std::string ttl : {"0", "-1", "1.5", "a day", "1e3", "99999999999999999999"}) {
    expect_refused(with_scope({"--ttl-seconds=" + ttl}), whole("--ttl-seconds", "1"));
    expect_refused(with_scope({"--ttl-seconds", ttl}), "--ttl-seconds");
  }
  expect_refused(with_scope({"--max-wait-seconds=-1"}), whole("--max-wait-seconds", "0"));
  expect_refused(with_scope({"--env", path("none.yml")}), "none.yml: cannot be read");
  expect_refused(with_scope({"--output", path("env.yml")}), "env.yml exists already");
  expect_refused(with_scope({"--output", path("no/such/folder.json")}), "cannot be written");
  write("holes.yml", "workflows: {lock_acquisition: {id: placeholder}}\n");
  expect_refused(with_scope({"--env", path("holes.yml")}),
                 "missing, or only examples: workflows.lock_acquisition.id, "
                 "workflows.lock_release.id");
  write("odd.yml", "{workflows: {lock_acquisition: {id: a}, lock_release: {id: b}}}\n");
  expect_refused(with_scope({"--env", path("odd.yml")}), "by hand");
  expect_refused({"add-lock", path("none.json"), "--scope-expression", "x"}, "cannot be read");
  expect_refused({"add-lock", path(""), "--scope-expression", "x"}, "must be a regular file");
  write("bad.json", "{\"nodes\": [\n  {]");
  expect_refused({"add-lock", path("bad.json"), "--scope-expression", "x"},
                 "bad.json:2:4: is not JSON");
  write("note.json",
        R"({"nodes":[{"name":"N","type":"n8n-nodes-base.stickyNote"}],"connections":{}})");
  expect_refused({"add-lock", path("note.json"), "--scope-expression", "x"},
                 "note.json: the workflow has no trigger");
  write(
      "two.json",
      R"({"nodes":[{"name":"A","type":"n8n-nodes-base.cron"},{"name":"B","type":"n8n-nodes-base.webhook"}],)"
      R"("connections":{}})");
  expect_refused({"add-lock", path("two.json"), "--scope-expression", "x"},
                 "the workflow has 2 triggers, \"A\", \"B\"");
  write("huge.json", std::string(16 * 1024 * 1024 + 1, ' '));
  expect_refused({"add-lock", path("huge.json"), "--scope-expression", "x"}, "max_workflow_bytes",
                 87);
}

TEST_F(N8nWrap, add_rate_limit_changes_the_file) {
  const auto added = n8n(add_rate_limit({"--limit", "10", "--window-seconds", "60", "--on-denied",
                                         "error", "--env", path("env.yml")}));
  EXPECT_EQ(added.code, 0) << added.err;
  const auto inputs =
      node("flow.json", "Rate Limit").at("parameters").at("workflowInputs").at("value");
  EXPECT_EQ(inputs.at("scope"), "={{ $workflow.id }}");
  EXPECT_EQ(inputs.at("limit"), 10);
  EXPECT_EQ(inputs.at("windowSeconds"), 60);
  EXPECT_EQ(node("flow.json", "Rate Limit Stop").at("typeVersion"), 1);
  expect_refused(add_rate_limit({"--limit", "10", "--window-seconds", "60"}),
                 "it has a rate limit");
}

TEST_F(N8nWrap, add_rate_limit_refuses_bad_input_and_changes_nothing) {
  expect_refused(add_rate_limit({"--window-seconds", "60"}), "--limit is missing");
  expect_refused(add_rate_limit({"--limit", "10"}), "--window-seconds is missing");
  expect_refused(add_rate_limit({"--limit=0", "--window-seconds", "60"}),
                 "--limit: must be a whole number from 1 to 1000000000");
  expect_refused(add_rate_limit({"--limit=x", "--window-seconds", "60"}), "--limit: must be");
  expect_refused(add_rate_limit({"--limit=1", "--window-seconds=0"}),
                 "--window-seconds: must be a whole number from 1 to 315360000");
  expect_refused(add_rate_limit({"--limit=1", "--window-seconds=1", "--on-denied", "shrug"}),
                 "--on-denied \"shrug\": must be passthrough, stop or error");
  expect_refused(
      add_rate_limit({"--limit=1", "--window-seconds=1", "--scope-expression", "a:meta"}),
      "ends in \":meta\"");
}

TEST_F(N8nWrap, doctor_finds_what_is_not_registered) {
  EXPECT_EQ(n8n(add_lock({"--scope-expression", "stock"})).code, 0);
  write("package.json", "{}");
  write("other.json", "not JSON, and nobody named it");
  const auto found = n8n({"doctor", path(""), "--env", path("env.yml")});
  EXPECT_EQ(found.code, 88);
  EXPECT_EQ(found.out, "fail  " + path("flow.json") +
                           ": Lock Acquire: scope \"stock\" is not in lockScopes: after a failure "
                           "nobody gives it back before its ttl ends\n");
  const auto as_json = n8n({"doctor", path("flow.json"), "--env", path("env.yml"), "--json"});
  EXPECT_EQ(as_json.code, 88);
  EXPECT_EQ(json::parse(as_json.out).at("verdict"), "lock-scopes-unregistered");
  auto env = read("env.yml");
  env.replace(env.find("[known]"), 7, "[known, stock]");
  write("env.yml", env);
  EXPECT_EQ(n8n({"doctor", path(""), "--env", path("env.yml")}).code, 0);
  expect_refused({"doctor"}, "FILE is missing");
  expect_refused({"doctor", path("other.json")}, "other.json:1:1: is not JSON");
  expect_refused({"doctor", path("package.json")}, "is not a workflow");
  expect_refused({"doctor", path("none.json")}, "cannot be read");
}

}  // namespace
}  // namespace holdfast::test
