// SPDX-License-Identifier: Apache-2.0
#include "server/auth/tokens.hpp"

#include "server/auth/secret.hpp"
#include "server/auth/token_file.hpp"
#include "server/auth/token_line.hpp"
#include "support/temporary_folder.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <set>

namespace holdfast::server {
namespace {

using namespace std::chrono_literals;

const text::WallTime january_noon = std::chrono::sys_days(std::chrono::year(2027) / 1 / 31) + 12h;
const std::string hash_a = to_hex(hash_of("a"));
const std::string hash_b = to_hex(hash_of("b"));

class TokenFile : public testing::Test {
 protected:
  std::string path() const { return (folder_.path() / "tokens").string(); }
  std::string write(const std::string& text, mode_t mode = 0600) const {
    std::ofstream(path(), std::ios::binary) << text;
    EXPECT_EQ(::chmod(path().c_str(), mode), 0);
    return path();
  }
  std::shared_ptr<const Tokens> load(const std::string& text) const {
    auto tokens = Tokens::load(write(text));
    if (tokens) return *tokens;
    ADD_FAILURE() << tokens.error().message;
    return std::make_shared<const Tokens>(std::vector<Principal>{});
  }
  static std::string refusal(const std::string& path) {
    const auto tokens = Tokens::load(path);
    EXPECT_FALSE(tokens);
    if (tokens) return "";
    EXPECT_EQ(tokens.error().code, Errc::bad_input);
    return tokens.error().message;
  }

 private:
  test::TemporaryFolder folder_;
};

TEST(Secret, is_what_sha256sum_says) {
  EXPECT_EQ(to_hex(hash_of("test")),
            "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08");
  EXPECT_EQ(parse_hash("9F86D081884C7D659A2FEAA0C55AD015A3BF4F1B2B0B822CD15D6C15B0F00A08"),
            hash_of("test"));
  EXPECT_EQ(parse_hash(""), std::nullopt);
  EXPECT_EQ(parse_hash(std::string(63, '0')), std::nullopt);
  EXPECT_EQ(parse_hash(std::string(65, '0')), std::nullopt);
  EXPECT_EQ(parse_hash(std::string(63, '0') + "g"), std::nullopt);
}

TEST(Secret, a_fresh_token_is_like_no_other) {
  std::set<std::string> seen;
  std::set<char> last;
  for (int i = 0; i < 500; ++i) {
    const auto token = make_token();
    EXPECT_EQ(token.size(), 46U);
    EXPECT_TRUE(token.starts_with("hf_"));
    EXPECT_EQ(token.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                      "0123456789-_"),
              std::string::npos);
    EXPECT_TRUE(seen.insert(token).second);
    last.insert(token.back());
  }
  EXPECT_EQ(last.size(), 16U) << "the last character carries four bits";
}

TEST_F(TokenFile, every_field_is_read) {
  const auto tokens = load(
      "# who may do what\n\n"
      "  \t# indented\r\n"
      "deploy-bot " +
      hash_a +
      "  lock\tdeploy:,cron:\r\n"
      "ann@home.org_2 " +
      hash_b + " read,admin * expires=2027-01-31T12:00:00Z");
  EXPECT_EQ(tokens->size(), 2U);
  const auto bot = tokens->find("a", january_noon);
  ASSERT_TRUE(bot);
  EXPECT_EQ(bot->name, "deploy-bot");
  EXPECT_EQ(bot->verbs, (Verbs{Verb::lock}));
  EXPECT_EQ(bot->prefixes, (std::vector<std::string>{"deploy:", "cron:"}));
  EXPECT_EQ(bot->expires, std::nullopt);
  const auto ann = tokens->find("b", january_noon - 1us);
  ASSERT_TRUE(ann);
  EXPECT_TRUE(ann->may(Verb::admin, "anything"));
  EXPECT_EQ(ann->expires, january_noon);
}

TEST_F(TokenFile, an_expired_token_is_as_unknown) {
  const auto tokens = load("x " + hash_a + " read * expires=2027-01-31T12:00:00Z\n");
  EXPECT_TRUE(tokens->find("a", january_noon - 1us));
  EXPECT_FALSE(tokens->find("a", january_noon));
  EXPECT_FALSE(tokens->find("a", january_noon + 24h));
}

TEST_F(TokenFile, without_tokens_lets_nobody_in) {
  for (const auto* text : {"", "\n", "# nobody yet\n"}) {
    const auto tokens = load(text);
    EXPECT_EQ(tokens->size(), 0U);
    EXPECT_FALSE(tokens->find(""));
    EXPECT_FALSE(tokens->find("a"));
  }
}

TEST(Tokens, near_misses_are_all_refused) {
  const auto token = make_token();
  // Entries that differ from the right one in a single bit, wherever it is.
  std::vector<Principal> near;
  for (unsigned bit = 0; bit < 256; ++bit) {
    Principal principal;
    principal.name = fmt::format("near-{}", bit);
    principal.secret_hash = hash_of(token);
    principal.secret_hash[bit / 8] ^= static_cast<unsigned char>(1U << bit % 8);
    near.push_back(principal);
  }
  EXPECT_FALSE(Tokens(near).find(token));
  near.push_back(
      {.name = "right", .verbs = {}, .prefixes = {}, .secret_hash = hash_of(token), .expires = {}});
  const Tokens tokens(near);
  ASSERT_TRUE(tokens.find(token));
  EXPECT_EQ(tokens.find(token)->name, "right");
  for (std::size_t i = 0; i < token.size(); ++i) {
    auto other = token;
    other[i] = static_cast<char>(other[i] ^ 1);
    EXPECT_FALSE(tokens.find(other)) << i;
    EXPECT_FALSE(tokens.find(token.substr(0, i))) << i;
  }
  EXPECT_FALSE(tokens.find(token + '\0'));
  EXPECT_FALSE(tokens.find(token + token));
  EXPECT_FALSE(tokens.find(to_hex(hash_of(token)))) << "the hash is no token";
}

TEST(Tokens, a_long_text_is_no_token) {
  const std::string longest(max_token_bytes, 'x');
  const std::string longer(max_token_bytes + 1, 'x');
  const Tokens tokens({{"a", {}, {}, hash_of(longest), {}}, {"b", {}, {}, hash_of(longer), {}}});
  EXPECT_TRUE(tokens.find(longest));
  EXPECT_FALSE(tokens.find(longer));
}

TEST(TokenLine, comes_back_as_it_was) {
  Principal principal;
  principal.name = "odd";
  principal.verbs = {Verb::lock};
  principal.secret_hash = hash_of("odd");
  principal.prefixes = {"a b", "c,d", "100%", "*", "#", "äö", "plain:/.~", "expires="};
  principal.expires = january_noon + 250ms;
  const auto line = format_token_line(principal);
  EXPECT_EQ(line, "odd " + to_hex(hash_of("odd")) +
                      " read,lock a%20b,c%2Cd,100%25,%2A,#,%C3%A4%C3%B6,plain:/.~,expires= "
                      "expires=2027-01-31T12:00:00.250Z");
  const auto back = parse_token_line(line);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->name, principal.name);
  EXPECT_EQ(back->verbs, principal.verbs);
  EXPECT_EQ(back->prefixes, principal.prefixes);
  EXPECT_EQ(back->secret_hash, principal.secret_hash);
  EXPECT_EQ(back->expires, principal.expires);
}

std::string many_prefixes(std::size_t count) {
  std::string out = "p0";
  for (std::size_t i = 1; i < count; ++i) out += fmt::format(",p{}", i);
  return out;
}

TEST_F(TokenFile, a_bad_line_is_refused_with_its_number_and_the_rule) {
  const auto name_rule = "a token's name has 1 to 64 letters";
  const auto fields_rule = "a line has the fields NAME SHA256 VERBS PREFIXES";
  const auto hash_rule = "the second field must be the SHA-256 of the token, 64 hex digits";
  const auto time_rule = "expires must be a time such as 2027-01-31T12:00:00Z; got ";
  const std::vector<std::pair<std::string, std::string>> cases{
      {"x", fields_rule},
      {"x " + hash_a, fields_rule},
      {"x " + hash_a + " read", fields_rule},
      {"x " + hash_a + " read * expires=2027-01-31T12:00:00Z x", fields_rule},
      {"-x " + hash_a + " read *", name_rule},
      {"x:y " + hash_a + " read *", name_rule},
      {"\x1b[31m " + hash_a + " read *", name_rule},
      {std::string(65, 'x') + " " + hash_a + " read *", name_rule},
      {std::string("x\0y", 3) + " " + hash_a + " read *", name_rule},
      {"\xef\xbb\xbfx " + hash_a + " read *", name_rule},
      {"anonymous " + hash_a + " read *", "a token cannot be called anonymous"},
      {"hf_secret " + hash_a + " read *", "must not begin with hf_"},
      {"x hf_secret read *", hash_rule},
      {"x " + hash_a + "0 read *", hash_rule},
      {"x " + hash_a + " write *",
       "verbs are read, lock and admin, separated by commas; got \"write\""},
      {"x " + hash_a + " READ *", "got \"READ\""},
      {"x " + hash_a + " read, *", "got \"\""},
      {"x " + hash_a + " read,read *", "verb read stands twice"},
      {"x " + hash_a + " * *", "got \"*\""},
      {"x " + hash_a + " read deploy:*", "prefix \"deploy:*\": * stands alone"},
      {"x " + hash_a + " read *,a", "prefix \"*\": * stands alone"},
      {"x " + hash_a + " read a,,b", "a prefix must not be empty; * means every name"},
      {"x " + hash_a + " read a,", "a prefix must not be empty"},
      {"x " + hash_a + " read a,b,a", "prefix \"a\" stands twice"},
      {"x " + hash_a + " read a,%61", "prefix \"a\" stands twice"},
      {"x " + hash_a + " read 100%", "behind % stand two hexadecimal digits; % itself is %25"},
      {"x " + hash_a + " read %4", "behind % stand two"},
      {"x " + hash_a + " read %zz", "behind % stand two"},
      {"x " + hash_a + " read a%00b", R"(prefix "a\x00b" cannot begin a lock's name)"},
      {"x " + hash_a + " read a%0A", "cannot begin a lock's name"},
      {"x " + hash_a + " read %ff", R"(prefix "\xff" cannot begin a lock's name)"},
      {"x " + hash_a + " read " + std::string(513, 'x'), "cannot begin a lock's name"},
      {"x " + hash_a + " read " + many_prefixes(101), "a token has at most 100 prefixes"},
      {"x " + hash_a + " read * # comment", fields_rule},
      {"x " + hash_a + " read * soon", "the fifth field, if there is one, must be expires=TIME"},
      {"x " + hash_a + " read * expires=", std::string(time_rule) + "\"\""},
      {"x " + hash_a + " read * expires=30d", std::string(time_rule) + "\"30d\""},
      {"fine " + hash_a + " read *", "the name fine stands in line 2 already"},
      {"other " + hash_b + " read *", "the same token stands in line 2 already"},
  };
  for (const auto& [line, rule] : cases) {
    SCOPED_TRACE(line);
    const auto said = refusal(write(fmt::format("# tokens\nfine {} read *\n{}\n", hash_b, line)));
    EXPECT_TRUE(said.starts_with(path() + ":3: ")) << said;
    EXPECT_NE(said.find(rule), std::string::npos) << said;
    EXPECT_EQ(said.find("hf_secret"), std::string::npos) << said;
    EXPECT_EQ(said.find(hash_a), std::string::npos) << said;
  }
}

TEST_F(TokenFile, has_limits) {
  EXPECT_EQ(refusal(write(std::string(max_token_file_bytes + 1, '#'))),
            path() + ": must have at most 1048576 bytes");
  std::string text;
  for (std::size_t i = 0; i < max_tokens; ++i) {
    text += fmt::format("{} {} read *\n", i, to_hex(hash_of(std::to_string(i))));
  }
  EXPECT_EQ(load(text)->size(), max_tokens);
  EXPECT_TRUE(load(text)->find("9999"));
  EXPECT_EQ(refusal(write(text + "x " + hash_a + " read *\n")),
            path() + ":10001: there are more than 10000 tokens");
}

TEST_F(TokenFile, open_to_others_is_refused) {
  for (const mode_t mode : {0601U, 0602U, 0604U, 0610U, 0620U, 0640U, 0644U, 0666U, 0777U}) {
    EXPECT_EQ(refusal(write("", mode)),
              fmt::format("{}: must be closed to group and others, but has mode {:04o}; say chmod "
                          "600",
                          path(), mode));
  }
  for (const mode_t mode : {0400U, 0600U, 0700U}) EXPECT_TRUE(Tokens::load(write("", mode)));
}

TEST_F(TokenFile, that_is_no_file_of_ours_is_refused) {
  EXPECT_EQ(refusal(path()), path() + ": cannot be read: No such file or directory");
  ASSERT_EQ(::mkfifo(path().c_str(), 0600), 0);
  EXPECT_EQ(refusal(path()), path() + ": must be a regular file");
  ASSERT_EQ(::unlink(path().c_str()), 0);
  ASSERT_EQ(::mkdir(path().c_str(), 0700), 0);
  EXPECT_EQ(refusal(path()), path() + ": must be a regular file");
  ASSERT_EQ(::rmdir(path().c_str()), 0);
  EXPECT_EQ(refusal("/dev/null"), "/dev/null: must be a regular file");
  if (::geteuid() != 0) return;  // only root can give files away
  write("");
  ASSERT_EQ(::chown(path().c_str(), 12345, 12345), 0);
  EXPECT_EQ(refusal(path()), path() +
                                 ": must belong to the user who runs this program (0) or to root; "
                                 "it belongs to user 12345");
}

TEST_F(TokenFile, behind_a_link_is_judged_by_the_file) {
  write("x " + hash_a + " read *\n");
  const auto link = path() + ".link";
  ASSERT_EQ(::symlink(path().c_str(), link.c_str()), 0);
  const auto tokens = Tokens::load(link);
  ASSERT_TRUE(tokens);
  EXPECT_TRUE((*tokens)->find("a"));
}

}  // namespace
}  // namespace holdfast::server
