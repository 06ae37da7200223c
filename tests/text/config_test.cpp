// SPDX-License-Identifier: Apache-2.0
#include "text/config.hpp"

#include "support/random_text.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>

namespace holdfast::text {
namespace {

using namespace std::chrono_literals;

Config config_of(std::string_view yaml) {
  auto config = parse_config(yaml, "config.yml");
  if (config) return *std::move(config);
  ADD_FAILURE() << config.error().message;
  return {};
}

TEST(Config, every_key_may_be_left_out) {
  for (const auto* yaml : {"", "\n", "# nothing yet\n", "---\n", "{}"}) {
    const auto config = config_of(yaml);
    EXPECT_EQ(config.defaults, Settings{});
    EXPECT_TRUE(config.profiles.empty());
    EXPECT_TRUE(config.server.is_null());
  }
}

TEST(Config, all_keys_are_read) {
  const auto config = config_of(R"(
store: file:/var/lib/holdfast
ttl: 30s
wait: 5s
profiles:
  production: {store: "redis://10.0.0.1:6379", wait: 1m}
  test:
    store: "memory:"
server:
  listen: 0.0.0.0:3009
  limits: {body: 64k}
)");
  EXPECT_EQ(config.defaults, (Settings{"file:/var/lib/holdfast", 30s, 5s}));
  EXPECT_EQ(config.profiles.at("production"), (Settings{"redis://10.0.0.1:6379", {}, 1min}));
  EXPECT_EQ(config.profiles.at("test"), (Settings{"memory:", {}, {}}));
  EXPECT_EQ(config.server.find("listen").scalar(), "0.0.0.0:3009");
  EXPECT_EQ(config.server.find("limits").find("body").scalar(), "64k");
  EXPECT_EQ(config.server.mark().line_number(), 10U);
}

TEST(Config, the_section_of_the_server_keeps_its_lines) {
  const auto config = config_of(
      "# mine\n\nserver:\n\n  # where\n  listen: a\n\n  # how many\n  threads: 1\n\n# end\nttl: "
      "30s\n");
  EXPECT_EQ(config.server.mark().line_number(), 6U);
  EXPECT_EQ(config.server.find("threads").mark().line_number(), 9U);
  EXPECT_EQ(config.server.entries().size(), 2U);
  EXPECT_EQ(config.defaults.ttl, Duration(30s));
}

TEST(Config, the_section_of_the_server_keeps_its_lines_with_other_line_ends) {
  const auto config =
      config_of("ttl: 30s\r\nserver:\r\n  a: 1\r\n\r\n  # b\r\n  b: 2\r\nwait: 1s\r\n");
  EXPECT_EQ(config.server.mark().line_number(), 3U);
  EXPECT_EQ(config.server.find("b").mark().line_number(), 6U);
}

TEST(Config, the_section_of_the_server_may_stand_in_brackets) {
  const auto spread = config_of("server: {a: 1,\n  # why\n  b: 2}\nttl: 30s\n");
  EXPECT_EQ(spread.server.mark().line_number(), 1U);
  EXPECT_EQ(spread.server.find("b").mark().line_number(), 3U);
  EXPECT_EQ(config_of("{server: {a: 1}, ttl: 30s}\n").server.find("a").scalar(), "1");
}

TEST(Config, the_section_of_the_server_may_be_an_alias) {
  const auto config = config_of("profiles: {x: &x {ttl: 30s}}\nserver: *x\nwait: 1s\n");
  EXPECT_EQ(config.server.entries().size(), 1U);
  EXPECT_EQ(config.server.find("ttl").scalar(), "30s");
}

TEST(Config, the_section_of_the_server_ends_with_the_document) {
  EXPECT_EQ(config_of("server:\n  a: 1").server.entries().size(), 1U);
  const auto config = config_of("---\nserver:\n  a: |\n    ttl: 1\n\n    x\n  b: 2\n...\n");
  EXPECT_EQ(config.server.find("a").scalar(), "ttl: 1\n\nx\n");
  EXPECT_EQ(config.server.find("b").scalar(), "2");
}

TEST(Config, a_profile_stands_over_the_defaults) {
  const auto config = config_of("ttl: 30s\nwait: 5s\nprofiles: {slow: {wait: 1h}}\n");
  EXPECT_EQ(choose_profile(config, ""), (Settings{{}, 30s, 5s}));
  EXPECT_EQ(choose_profile(config, "slow"), (Settings{{}, 30s, 1h}));
  const auto missing = choose_profile(config, "fast");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Errc::bad_input);
  EXPECT_EQ(missing.error().message, "profile \"fast\" is not in the configuration");
}

TEST(Config, a_bad_one_is_refused_with_its_line) {
  struct Case {
    std::string yaml;
    std::string_view message;
  };
  for (const auto& [yaml, message] : {
           Case{"ttl: 30s\nstroe: memory:x\n", "config.yml:2: unknown key \"stroe\""},
           Case{"profiles:\n  a:\n    tll: 1s\n", "config.yml:3: unknown key \"tll\""},
           Case{"ttl: 30s\nttl: 31s\n", "config.yml:2: key \"ttl\" stands twice"},
           Case{"profiles: {a: {}, a: {}}", "config.yml:1: key \"a\" stands twice"},
           Case{"\nttl: 30\n", "config.yml:2: ttl: duration \"30\" has no unit"},
           Case{"ttl: 1m30s\n", "config.yml:1: ttl: duration \"1m30s\" has more"},
           Case{"ttl: 0s\n", "config.yml:1: ttl must be from 20ms to 1d; got 0s"},
           Case{"ttl: 25h\n", "config.yml:1: ttl must be from 20ms to 1d; got 25h"},
           Case{"wait: 2d\n", "config.yml:1: wait must be from 0s to 1d; got 2d"},
           Case{"ttl: [30s]\n", "config.yml:1: ttl must be a single value"},
           Case{"wait: {a: b}\n", "config.yml:1: wait must be a single value"},
           Case{"wait:\n", "config.yml:1: wait must be a single value"},
           Case{"store: ~\n", "config.yml:1: store must be a single value"},
           Case{"store: ''\n", "config.yml:1: store: URL must not be empty"},
           Case{"store: localhost\n", "config.yml:1: store: URL \"localhost\" is malformed"},
           Case{"profiles: fast\n", "config.yml:1: profiles must have the form"},
           Case{"profiles: {a: 1}\n", "config.yml:1: a profile must have the form"},
           Case{"server: on\n", "config.yml:1: server must have the form"},
           Case{"just a text\n", "config.yml:1: the file must have the form"},
           Case{"- a\n- b\n", "config.yml:1: the file must have the form"},
           Case{"? [a]\n: b\n", "config.yml:1: a key must be a word"},
           Case{"ttl: 30s\n---\nttl: 31s\n", "config.yml:2: the YAML document ends here"},
           Case{",", "config.yml:1: the YAML document ends here"},
           Case{"ttl: 30s\nwait: [\n", "config.yml:"},
           Case{"ttl: \"30s\nwait: 5s\n", "config.yml:"},
           Case{"a: b: c\n", "config.yml:1:"},
           Case{std::string(max_config_bytes + 1, ' '), "config.yml: must be at most 1 MiB"},
       }) {
    const auto config = parse_config(yaml, "config.yml");
    ASSERT_FALSE(config) << yaml;
    EXPECT_EQ(config.error().code, Errc::bad_input);
    EXPECT_NE(config.error().message.find(message), std::string::npos) << config.error().message;
  }
}

TEST(Config, a_bad_store_does_not_show_its_password) {
  const auto config = parse_config("store: redis://app:secret@host:bad", "config.yml");
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().message.find("secret"), std::string::npos) << config.error().message;
}

TEST(Config, a_file_is_read) {
  const auto path = testing::TempDir() + "holdfast_config_" + std::to_string(getpid()) + ".yml";
  std::ofstream(path) << "ttl: 45s\n";
  const auto config = load_config(path);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->defaults.ttl, Duration(45s));
  std::ofstream(path) << "ttl: x\n";
  EXPECT_TRUE(load_config(path).error().message.starts_with(path + ":1: ttl: "));
  std::remove(path.c_str());
}

TEST(Config, a_file_that_cannot_be_read_is_named) {
  const auto missing = load_config("/nonexistent/config.yml");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Errc::bad_input);
  EXPECT_EQ(missing.error().message,
            "/nonexistent/config.yml: cannot be read: No such file or directory");
  const auto folder = load_config("/tmp");
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().message, "/tmp: cannot be read: Is a directory");
}

TEST(Config, random_text_does_no_harm) {
  test::Random random;
  for (int round = 0; round < 5'000; ++round) {
    const auto text = round % 2 == 0 ? random.text_of("ttl:waserpofi {}[]-,\n\"'&*!|>?%#~5s", 80)
                                     : random.bytes(80);
    const auto config = parse_config(text, "config.yml");
    if (config) continue;
    EXPECT_EQ(config.error().code, Errc::bad_input);
    EXPECT_TRUE(config.error().message.starts_with("config.yml:")) << config.error().message;
  }
  EXPECT_TRUE(parse_config("&a {server: *a}", "config.yml"));
  EXPECT_FALSE(parse_config("&a {profiles: *a}", "config.yml"));
  EXPECT_FALSE(parse_config(std::string(100'000, '['), "config.yml"));
  EXPECT_FALSE(parse_config(std::string(100'000, '{'), "config.yml"));
}

}  // namespace
}  // namespace holdfast::text
