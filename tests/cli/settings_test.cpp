// SPDX-License-Identifier: Apache-2.0
//
// Which setting wins, asked of the program as a user would: `holdfast config --json`.
#include "cli/holdfast_program.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace holdfast::test {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

class SettingsOrder : public Cli {
 protected:
  void write(const std::string& name, std::string_view yaml) const {
    fs::create_directories(fs::path(path(name)).parent_path());
    std::ofstream(path(name)) << yaml;
  }
  void write_user(std::string_view yaml) const { write(".config/holdfast/config.yml", yaml); }
  void write_machine(std::string_view yaml) const { write("machine.yml", yaml); }

  Finished config(std::vector<std::string> arguments,
                  const std::vector<std::string>& variables = {}) const {
    ProgramOptions options;
    options.environment = {"HOME=" + path(""), "HOLDFAST_SYSTEM_CONFIG=" + path("machine.yml")};
    options.environment.insert(options.environment.end(), variables.begin(), variables.end());
    arguments.insert(arguments.begin(), "config");
    return run(words(std::move(arguments)), std::move(options));
  }
  json::object shown(std::vector<std::string> arguments,
                     const std::vector<std::string>& variables = {}) const {
    arguments.emplace_back("--json");
    const auto finished = config(std::move(arguments), variables);
    EXPECT_EQ(finished.code, 0) << finished.err;
    return finished.code == 0 ? json::parse(finished.out).as_object() : json::object();
  }
  static std::string text(const json::object& object, const char* setting, const char* field) {
    return object.at(setting).at(field).as_string().c_str();
  }
  static std::int64_t ms(const json::object& object, const char* setting) {
    return object.at(setting).at("value_ms").as_int64();
  }
};

TEST_F(SettingsOrder, has_defaults_where_nobody_says_anything) {
  const auto settings = shown({});
  EXPECT_EQ(text(settings, "store", "value"), "file:");
  EXPECT_EQ(text(settings, "store", "from"), "default");
  EXPECT_EQ(ms(settings, "ttl"), 30'000);
  EXPECT_TRUE(settings.at("wait").at("value_ms").is_null());
  EXPECT_TRUE(settings.at("profile").is_null());
  ASSERT_EQ(settings.at("files").as_array().size(), 2U);
  EXPECT_FALSE(settings.at("files").at(0).at("found").as_bool());
}

TEST_F(SettingsOrder, goes_from_the_option_to_the_machine) {
  write_machine("store: memory:machine\nttl: 1m\nwait: 3s\n");
  auto settings = shown({});
  EXPECT_EQ(text(settings, "store", "value"), "memory:machine");
  EXPECT_EQ(text(settings, "store", "from"), path("machine.yml"));

  write_user("store: memory:user\nttl: 2m\n");
  settings = shown({});
  EXPECT_EQ(text(settings, "store", "value"), "memory:user");
  EXPECT_EQ(text(settings, "store", "from"), path("") + "/.config/holdfast/config.yml");
  EXPECT_EQ(ms(settings, "ttl"), 120'000);
  EXPECT_EQ(ms(settings, "wait"), 3000) << "each setting for itself";

  settings = shown({}, {"HOLDFAST_STORE=memory:variable"});
  EXPECT_EQ(text(settings, "store", "value"), "memory:variable");
  EXPECT_EQ(text(settings, "store", "from"), "HOLDFAST_STORE");

  settings = shown({"--store", "memory:option"}, {"HOLDFAST_STORE=memory:variable"});
  EXPECT_EQ(text(settings, "store", "value"), "memory:option");
  EXPECT_EQ(text(settings, "store", "from"), "--store");
}

TEST_F(SettingsOrder, looks_where_XDG_CONFIG_HOME_says) {
  write_user("ttl: 1m\n");
  write("xdg/holdfast/config.yml", "ttl: 2m\n");
  EXPECT_EQ(ms(shown({}, {"XDG_CONFIG_HOME=" + path("xdg")}), "ttl"), 120'000);
  EXPECT_EQ(ms(shown({}, {"XDG_CONFIG_HOME=relative"}), "ttl"), 60'000);
}

TEST_F(SettingsOrder, reads_one_file_instead_of_the_usual_ones_if_told_to) {
  write_user("ttl: 1m\n");
  write_machine("wait: 1s\n");
  write("other.yml", "ttl: 5m\n");
  for (const auto& settings : {shown({"--config", path("other.yml")}),
                               shown({}, {"HOLDFAST_CONFIG=" + path("other.yml")})}) {
    EXPECT_EQ(ms(settings, "ttl"), 300'000);
    EXPECT_TRUE(settings.at("wait").at("value_ms").is_null());
  }
  const auto missing = config({"--config", path("missing.yml")});
  EXPECT_EQ(missing.code, 64);
  EXPECT_NE(missing.err.find("missing.yml: cannot be read"), std::string::npos) << missing.err;
}

TEST_F(SettingsOrder, takes_a_profile_from_the_first_file_that_has_it) {
  write_user("ttl: 1m\nprofiles:\n  near: {store: 'memory:user'}\n");
  write_machine("profiles:\n  near: {store: 'memory:machine'}\n  far: {store: 'memory:far'}\n");
  auto settings = shown({"--profile", "near"});
  EXPECT_EQ(text(settings, "store", "value"), "memory:user");
  EXPECT_EQ(ms(settings, "ttl"), 60'000) << "what the profile leaves open";
  EXPECT_EQ(text(settings, "profile", "value"), "near");
  settings = shown({}, {"HOLDFAST_PROFILE=far"});
  EXPECT_EQ(text(settings, "store", "value"), "memory:far");
  EXPECT_EQ(text(settings, "store", "from"), path("machine.yml") + ", profile far");
  EXPECT_EQ(text(settings, "profile", "from"), "HOLDFAST_PROFILE");
}

TEST_F(SettingsOrder, lets_a_profile_win_over_a_variable_only_if_an_option_chose_it) {
  write_user("profiles:\n  near: {store: 'memory:near'}\n");
  const std::string store = "HOLDFAST_STORE=memory:variable";
  EXPECT_EQ(text(shown({"--profile", "near"}, {store}), "store", "value"), "memory:near");
  EXPECT_EQ(text(shown({}, {store, "HOLDFAST_PROFILE=near"}), "store", "value"), "memory:variable");
  EXPECT_EQ(text(shown({"--profile", "near", "--store", "memory:x"}), "store", "value"),
            "memory:x");
}

TEST_F(SettingsOrder, refuses_a_profile_that_is_not_there_and_lists_the_others) {
  write_user("profiles:\n  near: {ttl: 1m}\n  far: {ttl: 2m}\n");
  const auto refused = config({"--profile", "production"});
  EXPECT_EQ(refused.code, 64);
  EXPECT_EQ(refused.err,
            "holdfast: --profile: there is no profile \"production\"; known are \"far\", "
            "\"near\"\n");
}

TEST_F(SettingsOrder, is_shown_to_people_without_passwords) {
  const auto table = config({}, {"HOLDFAST_STORE=redis://me:s3cret@h:1"});
  EXPECT_EQ(table.code, 0);
  EXPECT_NE(table.out.find("redis://me:***@h:1"), std::string::npos) << table.out;
  EXPECT_NE(table.out.find("HOLDFAST_STORE"), std::string::npos) << table.out;
  EXPECT_EQ(table.out.find("s3cret"), std::string::npos);
}

}  // namespace
}  // namespace holdfast::test
