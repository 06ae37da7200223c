// SPDX-License-Identifier: Apache-2.0
//
// URLs that open must refuse. No store is named here beyond what its own URL says.
#include <holdfast/client.hpp>

#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <fstream>

namespace holdfast::test {

namespace {

struct BadUrl {
  std::string url;
  Errc code;
  std::string named;  // part of the message
};

void refuses(const BadUrl& bad) {
  const auto client = open(bad.url);
  ASSERT_FALSE(client.has_value()) << bad.url;
  EXPECT_EQ(to_string(client.error().code), to_string(bad.code))
      << bad.url << ": " << client.error().message;
  EXPECT_NE(client.error().message.find(bad.named), std::string::npos)
      << bad.url << ": " << client.error().message;
  EXPECT_EQ(client.error().message.find('\n'), std::string::npos);
}

}  // namespace

TEST(BadUrl, schemes_options_and_shapes_that_mean_nothing_are_refused) {
  const BadUrl table[] = {
      {"", Errc::bad_input, ""},
      {"nonsense", Errc::bad_input, ""},
      {":", Errc::bad_input, ""},
      {"://", Errc::bad_input, ""},
      {"mysql://localhost", Errc::bad_input, "mysql"},
      {"MEMORY", Errc::bad_input, ""},
      {"memory:?colour=blue", Errc::bad_input, "colour"},
      {"file:/tmp/holdfast-x?durable=perhaps", Errc::bad_input, "durable"},
      {"file:/tmp/holdfast-x?colour=blue", Errc::bad_input, "colour"},
      {"file:/tmp/holdfast-x?durable=yes&durable=no", Errc::bad_input, "durable"},
      {"memory:?drift=0.6", Errc::bad_input, "'drift' must be a number from 0.01 to 0.5"},
      {"file:/tmp/holdfast-x?drift=nan", Errc::bad_input, "drift"},
      {"redis://localhost?drift=5%25", Errc::bad_input, "drift"},
      {"http://localhost?drift=0.001", Errc::bad_input, "drift"},
      {"file:/tmp/holdfast-\xff", Errc::bad_input, ""},
      {"file:/tmp/%zz", Errc::bad_input, ""},
      {std::string("memory:a\0b", 10), Errc::bad_input, ""},
      {"memory:a\nb", Errc::bad_input, ""},
  };
  for (const auto& bad : table) refuses(bad);
}

TEST(BadUrl, a_path_that_cannot_be_a_store_is_refused_and_left_alone) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "a file";
  std::ofstream(file) << "not a store";
  const auto refused = [](const std::string& url, const std::string& path) {
    const auto client = open(url);
    ASSERT_FALSE(client.has_value()) << url;
    const auto code = client.error().code;
    EXPECT_TRUE(code == Errc::bad_input || code == Errc::unavailable || code == Errc::unsupported)
        << url << ": " << client.error().message;
    EXPECT_NE(client.error().message.find(path), std::string::npos) << client.error().message;
  };
  refused("file:" + (folder.path() / "a%20file").string(), file);
  refused("file:" + (folder.path() / "a%20file/below").string(), file);
  refused("file:/proc/holdfast", "/proc/holdfast");
  refused("file:/dev/null/holdfast", "/dev/null/holdfast");
  std::string text;
  std::getline(std::ifstream(file), text);
  EXPECT_EQ(text, "not a store");
}

TEST(BadUrl, a_url_never_shows_its_password) {
  for (const auto* url : {"redis://user:s3cret@localhost", "nonsense://user:s3cret@host/x"}) {
    const auto client = open(url);
    ASSERT_FALSE(client.has_value()) << url;
    EXPECT_EQ(client.error().message.find("s3cret"), std::string::npos) << url;
  }
}

}  // namespace holdfast::test
