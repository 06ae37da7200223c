// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/holdfast_program.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace holdfast::test {

class N8n : public Cli {
 protected:
  void SetUp() override {
    write("env.yml",
          "# of the shop\n"
          "credentials:\n"
          "  redis: {id: cred1, name: Redis}\n"
          "workflows:\n"
          "  lock_acquisition: {id: wf1}\n"
          "  lock_release: {id: wf2}\n"
          "  error_handler_lock_cleanup: {id: wf3}\n"
          "  rate_limit_check: {id: wf4}\n"
          "lockScopes: [known]  # by hand\n");
    write("flow.json",
          R"({"name":"Flow","nodes":[{"name":"T","type":"n8n-nodes-base.cron","position":[0,0]},)"
          R"({"name":"W","type":"n8n-nodes-base.noOp","position":[220,0]}],)"
          R"("connections":{"T":{"main":[[{"node":"W","type":"main","index":0}]]}},)"
          R"("settings":{"executionOrder":"v1"}})");
  }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
  }
  std::string read(const std::string& name) const {
    std::ostringstream out;
    out << std::ifstream(path(name), std::ios::binary).rdbuf();
    return out.str();
  }
  // Everything in the test's folder, by name and text.
  std::vector<std::string> everything() const {
    std::vector<std::string> out;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path(""))) {
      const auto name = std::filesystem::relative(entry.path(), path("")).string();
      out.push_back(entry.is_regular_file() ? name + "\n" + read(name) : name);
    }
    std::ranges::sort(out);
    return out;
  }
  Finished n8n(std::vector<std::string> words) const {
    words.insert(words.begin(), "n8n");
    return holdfast(std::move(words));
  }
  // It ends with that code and a sentence, and changes nothing.
  void expect_refused(std::vector<std::string> words, const std::string& says,
                      int code = 64) const {
    SCOPED_TRACE(says);
    const auto before = everything();
    const auto refused = n8n(std::move(words));
    EXPECT_EQ(refused.code, code) << refused.err;
    EXPECT_EQ(refused.out, "");
    EXPECT_NE(refused.err.find(says), std::string::npos) << refused.err;
    EXPECT_EQ(std::ranges::count(refused.err, '\n'), 1) << refused.err;
    EXPECT_EQ(everything(), before);
  }
};

}  // namespace holdfast::test
