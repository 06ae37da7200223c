// SPDX-License-Identifier: Apache-2.0
//
// The three scripts, each in its own shell. Bash and zsh get keys on a terminal, as from a person.
#include "cli/completion/complete_names.hpp"
#include "cli/holdfast_program.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>

namespace holdfast::test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

// Whatever a name may hold that a shell could take for something else.
const std::vector<std::string> odd_names{"my job", "it's", "we$rd\"x", "`touch bad`",
                                         "back\\slash"};

class Completion : public Cli {
 protected:
  void SetUp() override {
    for (const std::string shell : {"bash", "zsh", "fish"}) {
      const auto script = holdfast({"completion", shell});
      ASSERT_EQ(script.code, 0) << script.err;
      std::ofstream(path("holdfast." + shell)) << script.out;
    }
    fs::create_directory(path("bin"));
    fs::create_symlink(HOLDFAST_BINARY, path("bin/holdfast"));
  }

  void take(const std::string& name) const {
    const auto taken = holdfast({"acquire", name, "--ttl", "10m"});
    ASSERT_EQ(taken.code, 0) << taken.err;
  }
  void take_odd_names() const {
    for (const auto& name : odd_names) take(name);
  }

  bool has(const std::string& program) const {
    return run({"sh", "-c", "command -v " + program}).code == 0;
  }
  Finished in_shell(const std::string& shell, const std::string& script) const {
    return run({shell, "-c", script}, with({}));
  }
  // Finds the program under test before any that is installed.
  std::string use_script(const std::string& shell) const {
    return "PATH=" + path("bin") + ":$PATH; source " + path("holdfast." + shell) + "; ";
  }

  // What bash offers, one per line, for words as bash would take them apart.
  std::string bash_offers(const std::string& line, const std::string& words) const {
    const auto finished =
        in_shell("bash", use_script("bash") + "COMP_LINE='" + line + "' COMP_WORDS=(" + words +
                             ") COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); "
                             "_holdfast; printf '%s\\n' \"${COMPREPLY[@]}\"");
    EXPECT_EQ(finished.err, "");
    return finished.out;
  }
  // The words that a shell on a terminal hands over for the keys.
  std::string typed(const std::vector<std::string>& shell, const std::string& setup,
                    const std::string& keys) const {
    auto options = with({});
    options.terminal = true;
    options.environment.emplace_back("TERM=dumb");
    Program program(shell, options);
    program.type(setup + " echo rea''dy\n");
    EXPECT_TRUE(program.says("ready\r\n")) << program.out();
    program.type("holdfast " + keys + "\t");
    // The line is completed before the next key is looked at.
    program.type("\n");
    EXPECT_TRUE(program.says(">end")) << program.out();
    const auto begin = program.out().rfind("called<");
    const auto end = program.out().rfind(">end");
    return begin == std::string::npos ? "" : program.out().substr(begin + 7, end - begin - 7);
  }
  std::string typed_in_bash(const std::string& keys) const {
    return typed(
        {"bash", "--norc", "--noprofile", "-i"},
        use_script("bash") + R"(holdfast() { local IFS='|'; printf 'call''ed<%s>e''nd\n' "$*"; };)",
        keys);
  }
  std::string typed_in_zsh(const std::string& keys) const {
    return typed({"zsh", "-f", "-i"},
                 "autoload -U compinit && compinit -u -D; " + use_script("zsh") +
                     "holdfast() { print -r -- 'call''ed<'\"${(j:|:)@}\"'>e''nd' };",
                 keys);
  }
  std::string fish_offers(const std::string& line) const {
    const auto finished =
        in_shell("fish", "set -gx PATH " + path("bin") + " $PATH; source " + path("holdfast.fish") +
                             "; complete -C '" + line + "'");
    EXPECT_EQ(finished.err, "");
    return finished.out;
  }
};

TEST_F(Completion, of_names_is_quick_and_silent) {
  EXPECT_EQ(holdfast({"complete-names"}).out, "");
  take("orders:1");
  take("orders:2");
  take("other");
  EXPECT_EQ(holdfast({"complete-names", "orders:"}).out, "orders:1\norders:2\n");
  EXPECT_EQ(holdfast({"complete-names", ""}).out, "orders:1\norders:2\nother\n");
  for (const std::string url : {"nonsense", "redis://127.0.0.1:1", "file:/proc/none"}) {
    const auto failed = holdfast({"--store", url, "complete-names", "x"});
    EXPECT_EQ(failed.code, 0);
    EXPECT_EQ(failed.out + failed.err, "") << url;
  }
}

TEST_F(Completion, of_names_ends_at_a_limit) {
  for (std::size_t i = 0; i < cli::max_completions + 5; ++i) take("n" + std::to_string(i));
  const auto names = holdfast({"complete-names", "n"}).out;
  EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(names, '\n')), cli::max_completions);
}

TEST_F(Completion, in_bash_knows_commands_options_and_names) {
  take("orders:42");
  take("orders:43");
  EXPECT_EQ(bash_offers("holdfast stat", "holdfast stat"), "status\n");
  EXPECT_EQ(bash_offers("holdfast config --js", "holdfast config --js"), "--json\n");
  EXPECT_EQ(bash_offers("holdfast --vers", "holdfast --vers"), "--version\n");
  EXPECT_EQ(bash_offers("holdfast completion ", "holdfast completion ''"), "bash\nzsh\nfish\n");
  EXPECT_EQ(bash_offers("holdfast help conf", "holdfast help conf"), "config\n");
  EXPECT_EQ(bash_offers("holdfast status or", "holdfast status or"), "orders:42\norders:43\n");
  // Bash breaks words at colons, and replaces only what stands behind the last one.
  EXPECT_EQ(bash_offers("holdfast status orders:4", "holdfast status orders : 4"), "42\n43\n");
  EXPECT_EQ(bash_offers("holdfast status orders:", "holdfast status orders :"), "42\n43\n");
  // Without a line, as another script might call it.
  EXPECT_EQ(bash_offers("", "holdfast status or"), "orders:42\norders:43\n");
}

TEST_F(Completion, in_bash_knows_subcommands) {
  EXPECT_EQ(bash_offers("holdfast n8n add-l", "holdfast n8n add-l"), "add-lock\n");
  EXPECT_EQ(bash_offers("holdfast n8n add-lock --ttl", "holdfast n8n add-lock --ttl"),
            "--ttl-seconds\n");
  EXPECT_EQ(bash_offers("holdfast n8n add-rate-limit x --on-denied st",
                        "holdfast n8n add-rate-limit x --on-denied st"),
            "stop\n");
  EXPECT_EQ(bash_offers("holdfast n8n copy-primitive lock_r", "holdfast n8n copy-primitive lock_r"),
            "lock_release\n");
}

TEST_F(Completion, in_bash_asks_the_store_on_the_line) {
  take("here");
  const auto other = "file:" + path("other");
  ASSERT_EQ(holdfast({"--store", other, "acquire", "there", "--ttl", "1m"}).code, 0);
  const auto words = "holdfast --store file : " + path("other") + " status ''";
  EXPECT_EQ(bash_offers("holdfast --store " + other + " status ", words), "there\n");
}

TEST_F(Completion, in_bash_makes_one_word_of_an_odd_name) {
  take_odd_names();
  EXPECT_EQ(typed_in_bash("status my"), "status|my job");
  EXPECT_EQ(typed_in_bash("status \"my"), "status|my job");
  EXPECT_EQ(typed_in_bash("status it"), "status|it's");
  EXPECT_EQ(typed_in_bash("status we"), "status|we$rd\"x");
  EXPECT_EQ(typed_in_bash("status \\`"), "status|`touch bad`");
  EXPECT_EQ(typed_in_bash("status back"), "status|back\\slash");
}

TEST_F(Completion, in_bash_runs_nothing_that_is_on_the_line) {
  const auto mark = path("touched");
  EXPECT_EQ(bash_offers("holdfast status $(touch " + mark + ")",
                        "holdfast status '$(touch " + mark + ")'"),
            "\n");
  EXPECT_FALSE(fs::exists(mark));
}

TEST_F(Completion, in_zsh_knows_commands_options_and_names) {
  if (!has("zsh")) GTEST_SKIP() << "zsh is not installed; tools/install_packages test installs it";
  EXPECT_EQ(in_shell("zsh", "zsh -n " + path("holdfast.zsh")).err, "");
  take_odd_names();
  take("orders:42");
  EXPECT_EQ(typed_in_zsh("stat"), "status");
  EXPECT_EQ(typed_in_zsh("config --js"), "config|--json");
  EXPECT_EQ(typed_in_zsh("completion fi"), "completion|fish");
  EXPECT_EQ(typed_in_zsh("token create --exp"), "token|create|--expires");
  EXPECT_EQ(typed_in_zsh("n8n add-l"), "n8n|add-lock");
  EXPECT_EQ(typed_in_zsh("n8n add-lock --ttl"), "n8n|add-lock|--ttl-seconds");
  EXPECT_EQ(typed_in_zsh("n8n copy-primitive lock_r"), "n8n|copy-primitive|lock_release");
  EXPECT_EQ(typed_in_zsh("status orders:"), "status|orders:42");
  EXPECT_EQ(typed_in_zsh("status my"), "status|my job");
  EXPECT_EQ(typed_in_zsh("status we"), "status|we$rd\"x");
  EXPECT_EQ(typed_in_zsh("status it"), "status|it's");
  EXPECT_EQ(typed_in_zsh("run x -- holdf"), "run|x|--|holdfast");
}

TEST_F(Completion, in_zsh_works_from_the_folder_where_it_is_installed) {
  if (!has("zsh")) GTEST_SKIP() << "zsh is not installed; tools/install_packages test installs it";
  fs::create_directory(path("site-functions"));
  fs::rename(path("holdfast.zsh"), path("site-functions/_holdfast"));
  const auto setup = "fpath=(" + path("site-functions") + " $fpath); PATH=" + path("bin") +
                     ":$PATH; autoload -U compinit && compinit -u -D; " +
                     "holdfast() { print -r -- 'call''ed<'\"${(j:|:)@}\"'>e''nd' };";
  take("orders:42");
  EXPECT_EQ(typed({"zsh", "-f", "-i"}, setup, "status ord"), "status|orders:42");
}

TEST_F(Completion, in_fish_knows_commands_options_and_names) {
  if (!has("fish")) {
    GTEST_SKIP() << "fish is not installed; tools/install_packages test installs it";
  }
  take_odd_names();
  take("orders:42");
  EXPECT_TRUE(fish_offers("holdfast stat").starts_with("status\t"));
  EXPECT_TRUE(fish_offers("holdfast --store memory: stat").starts_with("status\t"));
  EXPECT_TRUE(fish_offers("holdfast config --js").starts_with("--json\t"));
  EXPECT_EQ(fish_offers("holdfast completion f"), "fish\n");
  EXPECT_EQ(fish_offers("holdfast n8n add-l"), "add-lock\n");
  EXPECT_TRUE(fish_offers("holdfast n8n add-lock --ttl").starts_with("--ttl-seconds\t"));
  EXPECT_EQ(fish_offers("holdfast n8n copy-primitive lock_r"), "lock_release\n");
  EXPECT_EQ(fish_offers("holdfast status orders:"), "orders:42\n");
  EXPECT_EQ(fish_offers("holdfast status my"), "my job\n");
  EXPECT_EQ(fish_offers("holdfast status we"), "we$rd\"x\n");
  EXPECT_TRUE(fish_offers("holdfast run x -- holdfast stat").starts_with("status\t"));
}

}  // namespace
}  // namespace holdfast::test
