// SPDX-License-Identifier: Apache-2.0
//
// packaging/compose.yml: its command lines are accepted, and the servers that they name are in it.
#include "docs/repository.hpp"
#include "support/program.hpp"
#include "support/temporary_folder.hpp"
#include "text/config_node.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <string>
#include <vector>

namespace holdfast::test {
namespace {

text::ConfigNode compose_services() {
  const auto file = text::ConfigNode::parse(read_text(repository() / "packaging/compose.yml"));
  EXPECT_TRUE(file) << file.error().message;
  return file ? file->find("services") : text::ConfigNode();
}

std::vector<std::string> texts_of(const text::ConfigNode& list) {
  std::vector<std::string> texts;
  for (const auto& each : list.elements()) texts.push_back(each.scalar());
  return texts;
}

// The services that run `holdfast`, by name, with the words behind it.
std::map<std::string, std::vector<std::string>> composed_commands() {
  std::map<std::string, std::vector<std::string>> found;
  for (const auto& service : compose_services().entries()) {
    const auto command = service.value.find("command");
    if (command.is_null()) continue;  // a Redis has its own by reference
    found[service.key.scalar()] = texts_of(command);
  }
  return found;
}

std::string word_behind(const std::vector<std::string>& words, const std::string& option) {
  const auto at = std::ranges::find(words, option);
  return at == words.end() || at + 1 == words.end() ? "" : *(at + 1);
}

// A service without one is started always, one with a profile by that alone.
std::string profile_of(const text::ConfigNode& service) {
  const auto profiles = texts_of(service.find("profiles"));
  return profiles.empty() ? "" : profiles.front();
}

TEST(Compose, there_is_a_server_on_one_redis_and_one_on_five) {
  const auto commands = composed_commands();
  ASSERT_EQ(commands.size(), 2U);
  EXPECT_EQ(word_behind(commands.at("holdfast"), "--store"), "redis://redis");
  EXPECT_TRUE(word_behind(commands.at("holdfast-redlock"), "--store").starts_with("redlock://"));
}

TEST(Compose, the_server_accepts_its_command_lines) {
  const TemporaryFolder folder;
  for (auto [name, words] : composed_commands()) {
    words.insert(words.begin(), HOLDFAST_BINARY);
    words.emplace_back("--check");
    const auto checked = run(
        words, {.environment = {"HOME=" + folder.path().string(),
                                "HOLDFAST_SYSTEM_CONFIG=" + (folder.path() / "none").string()}});
    EXPECT_EQ(checked.code, 0) << name << ": " << checked.err;
    EXPECT_NE(checked.err.find("the settings are good"), std::string::npos) << checked.err;
  }
}

TEST(Compose, each_redis_that_a_server_uses_is_started_with_it) {
  const auto services = compose_services();
  for (const auto& [name, words] : composed_commands()) {
    const auto store = word_behind(words, "--store");
    const auto hosts = store.substr(store.find("//") + 2);
    static const std::regex comma(",");
    for (std::sregex_token_iterator host(hosts.begin(), hosts.end(), comma, -1), end; host != end;
         ++host) {
      const auto redis = services.find(host->str());
      ASSERT_FALSE(redis.is_null()) << *host;
      EXPECT_FALSE(services.find(name).find("depends_on").find(host->str()).is_null()) << *host;
      EXPECT_EQ(profile_of(redis), profile_of(services.find(name))) << *host;
    }
  }
}

// Without tokens, so nobody else may reach it.
TEST(Compose, ports_are_published_on_this_machine_alone) {
  for (const auto& service : compose_services().entries()) {
    for (const auto& port : texts_of(service.value.find("ports"))) {
      EXPECT_TRUE(port.starts_with("127.0.0.1:")) << port;
    }
  }
}

}  // namespace
}  // namespace holdfast::test
