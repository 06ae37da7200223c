// SPDX-License-Identifier: Apache-2.0
//
// Whatever is wrong with the words or the files, the answer is one sentence and exit code 64.
#include "cli/holdfast_program.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace holdfast::test {
namespace {

using Words = std::vector<std::string>;

class BadInput : public Cli {
 protected:
  // FILE in the words stands for a file with that content.
  std::string refusal(Words arguments, std::string_view file = {}) const {
    std::ofstream(path("file.yml")) << file;
    for (auto& word : arguments) {
      if (word == "FILE") word = path("file.yml");
    }
    const auto refused = holdfast(arguments);
    EXPECT_EQ(refused.code, 64) << refused.err;
    EXPECT_EQ(refused.out, "");
    EXPECT_TRUE(refused.err.starts_with("holdfast: ")) << refused.err;
    EXPECT_EQ(std::ranges::count(refused.err, '\n'), 1) << refused.err;
    EXPECT_EQ(refused.err.find("s3cret"), std::string::npos) << refused.err;
    const auto is_control = [](char c) { return c != '\n' && c >= 0 && c < ' '; };
    EXPECT_TRUE(std::ranges::none_of(refused.err, is_control)) << refused.err;
    return refused.err;
  }
};

struct Case {
  Words words;
  std::string_view says;
};

TEST_F(BadInput, in_the_words_is_refused_with_what_to_do) {
  const std::vector<Case> cases{
      {{}, "a command is missing; see 'holdfast --help'"},
      {{"statsu", "x"}, "unknown command \"statsu\"; did you mean 'status'?"},
      {{"nonsense"}, "unknown command \"nonsense\"; see 'holdfast --help'"},
      {{"\x1b[31mred"}, R"(unknown command "\x1b[31mred")"},
      {{"redis://:s3cret@h"}, "unknown command \"redis://:***@h\""},
      {{"help", "confg"}, "did you mean 'config'?"},
      {{"status", "x", "--jsn"}, "unknown option \"--jsn\"; did you mean '--json'?"},
      {{"status", "x", "--nonsense"},
       "unknown option \"--nonsense\"; see 'holdfast status --help'"},
      {{"--nonsense"}, "unknown option \"--nonsense\""},
      {{"status", "x", "--stoer=redis://:s3cret@h"},
       "unknown option \"--stoer\"; did you mean '--store'?"},
      {{"status"}, "NAME is missing"},
      {{"status", "x", "redis://:s3cret@h"}, "unexpected argument \"redis://:***@h\""},
      {{"status", "x", "--store"}, "--store needs a value, as in --store URL"},
      {{"config", "--store", "a:", "--store", "b:"}, "--store stands twice"},
      {{"status", "x", "--", "ls"}, "unexpected argument \"ls\""},
      {{"status", "two\nlines"}, "control characters"},
      {{"status", std::string(600, 'x')}, "512"},
      {{"completion", "tcsh"}, "known are bash, zsh and fish"},
      {{"completion", "\x07"}, R"("\x07")"},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.words.empty() ? "nothing" : each.words.front());
    const auto said = refusal(each.words);
    EXPECT_NE(said.find(each.says), std::string::npos) << said;
  }
}

TEST_F(BadInput, in_a_url_is_refused_without_its_password) {
  const std::vector<std::pair<std::string, std::string_view>> cases{
      {"nonsense", "--store: URL \"nonsense\" is malformed"},
      {"redis://:s3cret@", "needs a host"},
      {"redis://:s3cret/x@h", "malformed"},
      {"redis://:s3cret@h:99999", "has a port that is not from 1 to 65535"},
      {"redis://:s3cret@h?nonsense=1", "has no option 'nonsense'"},
      {"redis://:s3cret@h?password_env=X", "give one of them"},
      {"redis://h?password_env=X&password_file=/x", "not both"},
      {"redis://h?password_env=HOLDFAST_NO_SUCH", "\"HOLDFAST_NO_SUCH\""},
      {"redis://h?password_file=/no/such", "\"/no/such\" cannot be read"},
      {"file:/tmp?password_file=/x", "has no option 'password_file'"},
      {"gopher://:s3cret@h", "unknown scheme 'gopher:'"},
  };
  for (const auto& [url, says] : cases) {
    SCOPED_TRACE(url);
    const auto said = refusal({"--store", url, "status", "x"});
    EXPECT_TRUE(said.starts_with("holdfast: --store: ")) << said;
    EXPECT_NE(said.find(says), std::string::npos) << said;
  }
}

TEST_F(BadInput, in_a_file_is_refused_with_its_line) {
  const std::vector<std::pair<std::string, std::string_view>> cases{
      {"store: 'memory:'\ntll: 30s\n", "file.yml:2: unknown key \"tll\""},
      {"profiles:\n  a: {colour: red}\n", "file.yml:2: unknown key \"colour\""},
      {"ttl: 5m5\n", "file.yml:1: ttl: duration \"5m5\""},
      {"wait: 1m30s\n", "file.yml:1: wait: duration \"1m30s\""},
      {"ttl: -1s\n", "file.yml:1: ttl: duration \"-1s\""},
      {"ttl: 1e99s\n", "file.yml:1: ttl: duration \"1e99s\""},
      {"ttl: 25h\n", "file.yml:1: ttl must be from 20ms to 1d"},
      {"store: redis://:s3cret@h:x\n", "file.yml:1: store: URL \"redis://:***@h:x\""},
      {"{", "file.yml:"},
  };
  for (const auto& [yaml, says] : cases) {
    SCOPED_TRACE(yaml);
    const auto said = refusal({"--config", "FILE", "config"}, yaml);
    EXPECT_NE(said.find(says), std::string::npos) << said;
  }
}

TEST_F(BadInput, in_a_duration_is_refused_with_the_rule) {
  for (const std::string text :
       {"5m5", "1m30s", "-1s", "1e99s", "", "5", "99999999999999999999d"}) {
    SCOPED_TRACE(text);
    const auto said = refusal({"acquire", "x", "--ttl=" + text});
    EXPECT_NE(said.find("--ttl"), std::string::npos) << said;
  }
}

TEST_F(BadInput, of_a_file_that_cannot_be_read_names_it) {
  const auto folder = refusal({"--config", path(""), "config"});
  EXPECT_NE(folder.find("cannot be read: Is a directory"), std::string::npos) << folder;
  if (geteuid() == 0) return;  // root can read everything
  std::ofstream(path("closed.yml")) << "ttl: 1m\n";
  ASSERT_EQ(chmod(path("closed.yml").c_str(), 0), 0);
  const auto closed = refusal({"--config", path("closed.yml"), "config"});
  EXPECT_NE(closed.find("cannot be read: Permission denied"), std::string::npos) << closed;
}

TEST_F(BadInput, leaves_commands_alone_that_need_no_settings) {
  std::ofstream(path("file.yml")) << "nonsense: 1\n";
  EXPECT_EQ(holdfast({"--config", path("file.yml"), "version"}).code, 0);
}

}  // namespace
}  // namespace holdfast::test
