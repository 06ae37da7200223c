// SPDX-License-Identifier: Apache-2.0
#include "backends/remote/options.hpp"

#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <fstream>

namespace holdfast::backends::remote {
namespace {

Result<Options> options_of(const std::string& url) {
  const auto parsed = text::parse_store_url(url);
  if (!parsed) return std::unexpected(parsed.error());
  return parse_options(*parsed);
}

std::string refusal(const std::string& url) {
  const auto options = options_of(url);
  if (options) return "";
  EXPECT_EQ(options.error().code, Errc::bad_input);
  return options.error().message;
}

struct RemoteOptions : testing::Test {
  std::string write(const std::string& text) {
    const auto path = (folder.path() / "token").string();
    std::ofstream(path) << text;
    return path;
  }
  test::TemporaryFolder folder;
};

TEST_F(RemoteOptions, a_url_says_where_the_server_is) {
  const auto plain = options_of("http://locks.example");
  ASSERT_TRUE(plain) << plain.error().message;
  EXPECT_EQ(plain->origin.describe(), "http://locks.example:3009");
  EXPECT_FALSE(plain->origin.tls);
  const auto encrypted = options_of("https://[::1]:8443?timeout=5s");
  ASSERT_TRUE(encrypted) << encrypted.error().message;
  EXPECT_EQ(encrypted->origin.describe(), "https://[::1]:8443");
  EXPECT_TRUE(encrypted->origin.tls);
  EXPECT_EQ(encrypted->origin.connect_timeout, std::chrono::seconds(5));
  EXPECT_EQ(options_of("http://localhost?socket=/run/h.sock")->origin.describe(),
            "unix:/run/h.sock");
}

TEST_F(RemoteOptions, the_token_comes_from_a_file_without_its_line_end) {
  const auto path = write("hf_secret\n");
  const auto options = options_of("http://localhost?token_file=" + path);
  ASSERT_TRUE(options) << options.error().message;
  ASSERT_EQ(options->origin.headers.size(), 1U);
  EXPECT_EQ(options->origin.headers[0].second, "Bearer hf_secret");
  EXPECT_EQ(options->origin.describe().find("secret"), std::string::npos);
  EXPECT_NE(options->token_source.find(path), std::string::npos);
}

TEST_F(RemoteOptions, the_token_comes_from_the_environment) {
  setenv("HOLDFAST_TEST_TOKEN", "hf_other", 1);
  const auto options = options_of("http://localhost?token_env=HOLDFAST_TEST_TOKEN");
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->origin.headers.at(0).second, "Bearer hf_other");
  unsetenv("HOLDFAST_TEST_TOKEN");
  EXPECT_NE(refusal("http://localhost?token_env=HOLDFAST_TEST_TOKEN").find("is not set"),
            std::string::npos);
}

TEST_F(RemoteOptions, a_token_that_cannot_be_had_is_named_by_its_file_and_never_shown) {
  EXPECT_NE(refusal("http://localhost?token_file=/no/such/file").find("\"/no/such/file\""),
            std::string::npos);
  EXPECT_NE(refusal("http://localhost?token_file=" + write("")).find("is empty"),
            std::string::npos);
  const auto two_words = refusal("http://localhost?token_file=" + write("hf_secret more"));
  EXPECT_NE(two_words.find("one word"), std::string::npos);
  EXPECT_EQ(two_words.find("secret"), std::string::npos);
  EXPECT_NE(refusal("http://localhost?token_file=" + write(std::string(5000, 'x'))).find("4096"),
            std::string::npos);
  EXPECT_NE(refusal("http://localhost?token_file=/a&token_env=B").find("not both"),
            std::string::npos);
}

TEST_F(RemoteOptions, secrets_in_the_url_are_refused) {
  EXPECT_NE(refusal("http://localhost?token=hf_secret").find("token_file"), std::string::npos);
  EXPECT_EQ(refusal("http://localhost?token=hf_secret").find("hf_secret"), std::string::npos);
  EXPECT_NE(refusal("http://user:word@localhost").find("no user or password"), std::string::npos);
  EXPECT_EQ(text::masked("http://localhost?token=hf_secret"), "http://localhost?token=***");
}

TEST_F(RemoteOptions, what_makes_no_sense_is_refused) {
  EXPECT_NE(refusal("http://localhost?ca=/etc/passwd").find("only for https"), std::string::npos);
  EXPECT_NE(refusal("https://localhost?ca=/no/such").find("names no file"), std::string::npos);
  EXPECT_NE(refusal("http://localhost/path").find("no path"), std::string::npos);
  EXPECT_NE(refusal("http://localhost?speed=high").find("'speed'"), std::string::npos);
  EXPECT_NE(refusal("http://localhost?timeout=1us").find("timeout"), std::string::npos);
  EXPECT_NE(refusal("http://a,b").find("one host"), std::string::npos);
}

}  // namespace
}  // namespace holdfast::backends::remote
