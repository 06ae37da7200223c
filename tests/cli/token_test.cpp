// SPDX-License-Identifier: Apache-2.0
#include "cli/holdfast_program.hpp"
#include "server/auth/secret.hpp"
#include "server/auth/token_edit.hpp"
#include "server/auth/tokens.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/value_to.hpp>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace holdfast::test {
namespace {

namespace json = boost::json;
using server::Verb;
using Words = std::vector<std::string>;

class Token : public Cli {
 protected:
  std::string file() const { return path("tokens"); }
  std::string text() const {
    std::ostringstream out;
    out << std::ifstream(file(), std::ios::binary).rdbuf();
    return out.str();
  }
  void write(const std::string& text) const {
    std::ofstream(file(), std::ios::binary) << text;
    EXPECT_EQ(::chmod(file().c_str(), 0600), 0);
  }
  // The token, without its line end.
  std::string create(const std::string& name, Words options = {"--verbs", "lock"}) const {
    Words words{"token", "create", name, "--file", file()};
    words.insert(words.end(), options.begin(), options.end());
    const auto made = holdfast(words);
    EXPECT_EQ(made.code, 0) << made.err;
    EXPECT_EQ(made.err, "");
    return made.out.substr(0, made.out.find('\n'));
  }
  std::shared_ptr<const server::Tokens> tokens() const {
    const auto loaded = server::Tokens::load(file());
    if (loaded) return *loaded;
    ADD_FAILURE() << loaded.error().message;
    return std::make_shared<const server::Tokens>(std::vector<server::Principal>{});
  }
  std::size_t files_in_folder() const {
    const auto all = std::filesystem::directory_iterator(path(""));
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }
};

TEST_F(Token, is_printed_once_and_opens_the_server) {
  const auto token =
      create("bot", {"--verbs", "read,lock", "--prefix", "deploy:", "--prefix=a b,c%"});
  EXPECT_EQ(token.size(), 46U);
  EXPECT_TRUE(token.starts_with("hf_"));
  EXPECT_EQ(text().find(token), std::string::npos) << "the file has only the hash";
  const auto bot = tokens()->find(token);
  ASSERT_TRUE(bot);
  EXPECT_EQ(bot->name, "bot");
  EXPECT_TRUE(bot->may(Verb::lock, "deploy:web"));
  EXPECT_TRUE(bot->may(Verb::lock, "a b,c%d"));
  EXPECT_FALSE(bot->may(Verb::lock, "other"));
  EXPECT_FALSE(bot->may(Verb::admin));
}

TEST_F(Token, has_rights_for_a_prefix_in_brackets_and_not_for_what_stands_in_them) {
  for (const std::string prefix : {"[prod]", "[a,b]", "[]"}) {
    SCOPED_TRACE(prefix);
    const auto token =
        create("bot" + std::to_string(prefix.size()), {"--verbs", "lock", "--prefix", prefix});
    const auto bot = tokens()->find(token);
    ASSERT_TRUE(bot);
    EXPECT_TRUE(bot->may(Verb::lock, prefix + "x"));
    EXPECT_FALSE(bot->may(Verb::lock, "prod"));
    EXPECT_FALSE(bot->may(Verb::lock, "a"));
  }
}

TEST_F(Token, file_is_made_for_this_user_alone) {
  create("bot");
  struct stat made{};
  ASSERT_EQ(::stat(file().c_str(), &made), 0);
  EXPECT_EQ(made.st_mode & 07777U, 0600U);
  EXPECT_EQ(files_in_folder(), 1U) << "and nothing is left beside it";
}

TEST_F(Token, file_keeps_what_a_person_wrote) {
  const auto hash = server::to_hex(server::hash_of("x"));
  write("# ours\n\n  x  " + hash + " admin *");
  const auto token = create("bot");
  const auto with_bot = text();
  EXPECT_TRUE(with_bot.starts_with("# ours\n\n  x  " + hash + " admin *\nbot ")) << with_bot;
  EXPECT_EQ(holdfast({"token", "revoke", "x", "--file", file()}).code, 0);
  EXPECT_TRUE(text().starts_with("# ours\n\nbot ")) << text();
  EXPECT_EQ(holdfast({"token", "revoke", "bot", "--file", file()}).code, 0);
  EXPECT_EQ(text(), "# ours\n\n");
  EXPECT_FALSE(tokens()->find(token));
}

TEST_F(Token, file_keeps_its_owner_and_mode_and_may_be_a_link) {
  write("");
  ASSERT_EQ(::chmod(file().c_str(), 0400), 0);
  std::filesystem::create_symlink(file(), path("link"));
  // Only root can choose a group that is not his.
  const auto group = ::geteuid() == 0 ? gid_t{12345} : ::getegid();
  ASSERT_EQ(::chown(file().c_str(), ::geteuid(), group), 0);
  ASSERT_EQ(holdfast({"token", "create", "bot", "--verbs", "read", "--file", path("link")}).code,
            0);
  struct stat changed{};
  ASSERT_EQ(::lstat(file().c_str(), &changed), 0);
  EXPECT_EQ(changed.st_mode & 07777U, 0400U);
  EXPECT_EQ(changed.st_gid, group);
  EXPECT_TRUE(std::filesystem::is_symlink(path("link")));
  EXPECT_EQ(tokens()->size(), 1U);
}

TEST_F(Token, many_creates_at_once_lose_none) {
  std::vector<std::unique_ptr<Program>> programs;
  programs.reserve(16);
  for (int i = 0; i < 16; ++i) {
    programs.push_back(std::make_unique<Program>(
        words({"token", "create", "bot" + std::to_string(i), "--verbs", "read", "--file", file()}),
        with({})));
  }
  std::vector<std::string> made;
  made.reserve(programs.size());
  for (auto& program : programs) {
    EXPECT_EQ(program->wait(), 0) << program->err();
    made.push_back(program->out().substr(0, 46));
  }
  EXPECT_EQ(tokens()->size(), 16U);
  for (const auto& token : made) EXPECT_TRUE(tokens()->find(token));
  EXPECT_EQ(files_in_folder(), 1U);
}

bool has_open(pid_t pid, const std::string& path) {
  std::error_code gone;
  const auto all =
      std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/fd", gone);
  return std::ranges::any_of(begin(all), end(all), [&](const auto& entry) {
    return std::filesystem::read_symlink(entry.path(), gone) == path;
  });
}

TEST_F(Token, create_waits_for_another_who_changes_the_file) {
  write("");
  const int fd = ::open(file().c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(::flock(fd, LOCK_EX), 0);
  Program program(words({"token", "create", "bot", "--verbs", "read", "--file", file()}), with({}));
  ASSERT_TRUE(eventually([&] { return has_open(program.pid(), file()); }));
  EXPECT_EQ(program.out(), "");
  ::close(fd);
  EXPECT_EQ(program.wait(), 0);
  EXPECT_EQ(tokens()->size(), 1U);
}

TEST_F(Token, without_a_file_the_line_goes_to_standard_error) {
  const auto made = holdfast({"token", "create", "bot", "--verbs", "lock", "--prefix", "a:"});
  EXPECT_EQ(made.code, 0);
  EXPECT_EQ(made.out.size(), 47U);
  EXPECT_EQ(made.err,
            "bot " + server::to_hex(server::hash_of(made.out.substr(0, 46))) + " read,lock a:\n");
}

TEST_F(Token, that_cannot_be_written_is_taken_back) {
  const auto failed = holdfast({"token", "create", "bot", "--verbs", "read", "--file", file()},
                               {.stdout_to = "/dev/full"});
  EXPECT_EQ(failed.code, 74);
  EXPECT_EQ(text(), "");
}

TEST_F(Token, expires_when_it_should) {
  const auto token = create("bot", {"--verbs", "read", "--expires", "30d"});
  const auto bot = tokens()->find(token);
  ASSERT_TRUE(bot && bot->expires);
  const auto left = *bot->expires - std::chrono::system_clock::now();
  EXPECT_GT(left, std::chrono::days(30) - std::chrono::minutes(1));
  EXPECT_LE(left, std::chrono::days(30) + std::chrono::seconds(1));
}

TEST_F(Token, list_shows_everything_but_hashes) {
  const auto hash_a = server::to_hex(server::hash_of("a"));
  const auto hash_b = server::to_hex(server::hash_of("b"));
  write("old " + hash_a + " lock a%20b,c: expires=2020-01-01T00:00:00Z\nann " + hash_b +
        " admin *\n");
  const auto listed = holdfast({"token", "list", "--file", file()});
  EXPECT_EQ(listed.code, 0) << listed.err;
  EXPECT_EQ(listed.out,
            "NAME  VERBS            PREFIXES  EXPIRES\n"
            "old   read,lock        a%20b,c:  2020-01-01T00:00:00.000Z (expired)\n"
            "ann   read,lock,admin  *         never\n");
  const auto as_json = holdfast({"token", "list", "--file", file(), "--json"});
  EXPECT_EQ(as_json.out,
            R"({"tokens":[{"name":"old","verbs":["read","lock"],"prefixes":["a b","c:"],)"
            R"("expires_at":"2020-01-01T00:00:00.000Z","expired":true},)"
            R"({"name":"ann","verbs":["read","lock","admin"],"prefixes":[],)"
            R"("expires_at":null,"expired":false}]})"
            "\n");
  write("");
  const auto none = holdfast({"token", "list", "--file", file()});
  EXPECT_EQ(none.out, "");
  EXPECT_EQ(none.err, "holdfast: there are no tokens in the file\n");
}

TEST_F(Token, json_has_all_of_it) {
  const auto made = holdfast({"token", "create", "bot", "--verbs", "read", "--json", "--quiet"});
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(made.err, "");
  const auto object = json::parse(made.out).as_object();
  EXPECT_EQ(object.at("name"), "bot");
  EXPECT_TRUE(object.at("file").is_null());
  const auto token = json::value_to<std::string>(object.at("token"));
  EXPECT_EQ(json::value_to<std::string>(object.at("line")),
            "bot " + server::to_hex(server::hash_of(token)) + " read *");
  create("other");
  const auto revoked = holdfast({"token", "revoke", "other", "--file", file(), "--json"});
  EXPECT_EQ(revoked.out, R"({"name":"other","file":")" + file() + R"(","revoked":true})" + "\n");
}

TEST_F(Token, bad_input_is_refused_and_changes_nothing) {
  create("bot");
  const auto before = text();
  write(before);
  const auto pattern = "a prefix is no pattern, so leave out the *";
  const auto name = "a token's name has 1 to 64 letters";
  const std::vector<std::pair<Words, std::string>> cases{
      {{}, "ACTION is missing"},
      {{"make", "x"}, "unknown action \"make\"; known are create, list and revoke"},
      {{"create"}, "TOKEN_NAME is missing"},
      {{"create", "x"}, "--verbs is missing"},
      {{"create", "x", "--verbs", ""}, "--verbs"},
      {{"create", "x", "--verbs", "write"}, "--verbs: verbs are read, lock and admin"},
      {{"create", "x", "--verbs", "read,"}, "--verbs: verbs are read, lock and admin"},
      {{"create", "x", "--verbs", "read", "--verbs", "lock"}, "--verbs stands twice"},
      {{"create", "x y", "--verbs", "read"}, name},
      {{"create", "x\n", "--verbs", "read"}, name},
      {{"create", "--verbs", "read", "--", "-x"}, name},
      {{"create", std::string(65, 'x'), "--verbs", "read"}, name},
      {{"create", "anonymous", "--verbs", "read"}, "cannot be called anonymous"},
      {{"create", "hf_s3cret", "--verbs", "read"}, "must not begin with hf_"},
      {{"create", "x", "y", "--verbs", "read"}, "unexpected argument \"y\""},
      {{"create", "x", "--verbs", "read", "--prefix", "a:*"}, pattern},
      {{"create", "x", "--verbs", "read", "--prefix", "*"}, pattern},
      {{"create", "x", "--verbs", "read", "--prefix="}, "prefix"},
      {{"create", "x", "--verbs", "read", "--prefix", "a\nb"}, "cannot begin a lock's name"},
      {{"create", "x", "--verbs", "read", "--prefix", "\xff"}, "cannot begin a lock's name"},
      {{"create", "x", "--verbs", "read", "--prefix", "a", "--prefix", "a"}, "stands twice"},
      {{"create", "x", "--verbs", "read", "--expires", "0s"}, "--expires must be from 1s to 3650d"},
      {{"create", "x", "--verbs", "read", "--expires", "3651d"}, "--expires must be from 1s"},
      {{"create", "x", "--verbs", "read", "--expires", "tomorrow"}, "--expires"},
      {{"create", "x", "--verbs", "read", "--quiet"}, "with --quiet nobody would learn the token"},
      {{"create", "bot", "--verbs", "read", "--file", file()}, "has a token called bot already"},
      {{"create", "x", "--verbs", "read", "--file", path("no/such")}, "cannot be opened"},
      {{"create", "x", "--verbs", "read", "--file", path("")}, "cannot be opened: Is a directory"},
      {{"create", "x", "--verbs", "read", "--file", "/dev/null"}, "must be a regular file"},
      {{"list"}, "--file is missing"},
      {{"list", "x", "--file", file()}, "list takes no TOKEN_NAME"},
      {{"list", "--file", path("none")}, "cannot be read: No such file"},
      {{"list", "--file", file(), "--verbs", "read"}, "are for create"},
      {{"revoke", "--file", file()}, "TOKEN_NAME is missing"},
      {{"revoke", "bot"}, "--file is missing"},
      {{"revoke", "x", "--file", file()}, "has no token called x"},
      {{"revoke", "hf_s3cret", "--file", file()}, "must not begin with hf_"},
      {{"revoke", "x", "--file", path("none")}, "cannot be opened: No such file"},
  };
  for (const auto& [arguments, says] : cases) {
    Words all{"token"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const auto refused = holdfast(all);
    SCOPED_TRACE(says);
    EXPECT_EQ(refused.code, 64) << refused.err;
    EXPECT_EQ(refused.out, "");
    EXPECT_NE(refused.err.find(says), std::string::npos) << refused.err;
    EXPECT_EQ(std::ranges::count(refused.err, '\n'), 1) << refused.err;
    EXPECT_EQ(refused.err.find("s3cret"), std::string::npos) << refused.err;
  }
  EXPECT_EQ(text(), before);
  EXPECT_EQ(files_in_folder(), 1U);
}

TEST_F(Token, file_with_a_mistake_or_open_to_others_is_not_touched) {
  const Words create{"token", "create", "x", "--verbs", "read", "--file", file()};
  write("nonsense\n");
  EXPECT_NE(holdfast(create).err.find("tokens:1: a line has the fields"), std::string::npos);
  write("");
  ASSERT_EQ(::chmod(file().c_str(), 0644), 0);
  const auto refused = holdfast(create);
  EXPECT_EQ(refused.code, 64);
  EXPECT_NE(refused.err.find("must be closed to group and others"), std::string::npos);
  EXPECT_EQ(text(), "");
}

}  // namespace
}  // namespace holdfast::test
