// SPDX-License-Identifier: Apache-2.0
#include "text/password.hpp"

#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

namespace holdfast::text {
namespace {

class Password : public testing::Test {
 protected:
  std::string file_with(std::string_view content) const {
    const auto path = folder_.path() / "secret";
    std::ofstream(path, std::ios::binary) << content;
    return path.string();
  }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

  static Result<std::string> found_in(const std::string& url) {
    auto parsed = parse_store_url(url);
    if (!parsed) return std::unexpected(parsed.error());
    if (auto found = find_password(*parsed); !found) return std::unexpected(found.error());
    EXPECT_TRUE(parsed->options.empty());
    return parsed->password;
  }
  static Result<std::string> found_in_file(const std::string& path) {
    return found_in("redis://h?password_file=" + path);
  }
  static std::string refusal(const Result<std::string>& result) {
    if (result) return "accepted";
    EXPECT_EQ(result.error().code, Errc::bad_input);
    return result.error().message;
  }

 private:
  test::TemporaryFolder folder_;
};

TEST_F(Password, comes_from_a_file_without_its_line_end) {
  EXPECT_EQ(found_in_file(file_with("s3cret")), "s3cret");
  EXPECT_EQ(found_in_file(file_with("s3cret\n")), "s3cret");
  EXPECT_EQ(found_in_file(file_with("s3cret\r\n")), "s3cret");
  EXPECT_EQ(found_in_file(file_with(" with spaces \n")), " with spaces ");
}

TEST_F(Password, comes_from_a_variable) {
  setenv("HOLDFAST_TEST_PASSWORD", "p@ss/word", 1);
  EXPECT_EQ(found_in("redis://me@h?password_env=HOLDFAST_TEST_PASSWORD"), "p@ss/word");
  unsetenv("HOLDFAST_TEST_PASSWORD");
}

TEST_F(Password, of_a_url_without_these_options_stays_as_it_is) {
  EXPECT_EQ(found_in("redis://:here@h"), "here");
  EXPECT_EQ(found_in("redis://h"), "");
}

TEST_F(Password, that_cannot_be_had_is_refused_by_the_name_of_its_place) {
  const auto missing = path("missing");
  EXPECT_EQ(refusal(found_in_file(missing)),
            "store: password_file \"" + missing + "\" cannot be read: No such file or directory");
  EXPECT_NE(refusal(found_in_file(path(""))).find("Is a directory"), std::string::npos);
  EXPECT_NE(refusal(found_in_file(file_with("\n"))).find("is empty"), std::string::npos);
  EXPECT_NE(refusal(found_in_file("/dev/zero")).find("at most 4096 bytes"), std::string::npos);
  EXPECT_EQ(refusal(found_in("redis://h?password_env=HOLDFAST_NO_SUCH")),
            "store: the environment variable \"HOLDFAST_NO_SUCH\" of password_env is not set; it "
            "must hold the password");
}

TEST_F(Password, has_a_limit_that_a_line_end_does_not_count_against) {
  const std::string longest(max_password_bytes, 'x');
  EXPECT_EQ(found_in_file(file_with(longest + "\r\n")), longest);
  EXPECT_NE(refusal(found_in_file(file_with(longest + "x"))).find("at most"), std::string::npos);
}

TEST_F(Password, that_is_refused_is_not_shown) {
  const auto two_lines = refusal(found_in_file(file_with("top\nsecret\n")));
  EXPECT_NE(two_lines.find("one line"), std::string::npos) << two_lines;
  EXPECT_EQ(two_lines.find("top"), std::string::npos) << two_lines;
}

TEST_F(Password, is_given_in_one_place_only) {
  EXPECT_NE(refusal(found_in("redis://h?password_file=/x&password_env=Y")).find("not both"),
            std::string::npos);
  const auto twice = refusal(found_in("redis://:here@h?password_env=Y"));
  EXPECT_NE(twice.find("one of them"), std::string::npos);
  EXPECT_EQ(twice.find("here"), std::string::npos);
}

}  // namespace
}  // namespace holdfast::text
