// SPDX-License-Identifier: Apache-2.0
#include "forrst/host.hpp"
#include "forrst/service_fixture.hpp"

#include <algorithm>
#include <latch>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using forrst::Invocation;
using forrst::Outcome;
using Type = forrst::Rule::Type;

Outcome nothing(const Invocation&) { return nullptr; }

struct Unwell final : forrst::Host {
  Task<std::vector<forrst::Component>> components(std::shared_ptr<client::Core>) override {
    return Task(std::vector{
        forrst::Component{.name = "store", .is_well = false, .message = "it does not answer"}});
  }
};

class SystemFunctions : public ForrstService {
 protected:
  Told system(std::string_view name, json::object arguments = {}) const {
    return ask({.function = std::string(name), .arguments = std::move(arguments)});
  }
  json::object describe(json::object arguments) const {
    return system("urn:cline:forrst:ext:discovery:fn:describe", std::move(arguments))
        .body.at("result")
        .as_object();
  }
};

TEST_F(SystemFunctions, both_forms_of_their_names_answer) {
  for (const auto* name :
       {"urn:cline:forrst:ext:diagnostics:fn:ping", "urn:cline:forrst:fn:ping",
        "urn:cline:forrst:ext:diagnostics:fn:health", "urn:cline:forrst:fn:health",
        "urn:cline:forrst:ext:discovery:fn:capabilities", "urn:cline:forrst:fn:capabilities",
        "urn:cline:forrst:ext:discovery:fn:describe", "urn:cline:forrst:fn:describe"}) {
    EXPECT_EQ(system(name).status, 200) << name;
  }
}

TEST_F(SystemFunctions, ping_is_healthy) {
  const auto told = system("urn:cline:forrst:fn:ping");
  EXPECT_EQ(told.body.at("result").at("status"), "healthy");
  EXPECT_TRUE(told.body.at("result").as_object().contains("timestamp"));
}

TEST_F(SystemFunctions, health_tells_of_the_store) {
  const auto told = system("urn:cline:forrst:fn:health");
  EXPECT_EQ(told.body.at("result").at("status"), "healthy");
  EXPECT_EQ(told.body.at("result").at("components").at("store").at("status"), "healthy");
  EXPECT_FALSE(system("urn:cline:forrst:fn:health", {{"include_details", false}})
                   .body.at("result")
                   .as_object()
                   .contains("components"));
}

TEST_F(SystemFunctions, health_of_an_unwell_store_is_503_but_we_live) {
  serve({}, std::make_shared<Unwell>());
  const auto told = system("urn:cline:forrst:fn:health");
  EXPECT_EQ(told.status, 503);
  EXPECT_EQ(told.body.at("result").at("status"), "unhealthy");
  EXPECT_EQ(system("urn:cline:forrst:fn:health", {{"component", "self"}}).status, 200);
}

TEST_F(SystemFunctions, a_component_that_is_not_there_is_bad_input) {
  const auto told = system("urn:cline:forrst:fn:health", {{"component", "moon"}});
  EXPECT_EQ(told.code(), "INVALID_ARGUMENTS");
  EXPECT_EQ(told.pointer(), "/call/arguments/component");
}

TEST_F(SystemFunctions, a_disabled_function_makes_us_degraded) {
  add({.name = "old.work", .handler = nothing, .is_disabled = true});
  const auto told = ask({.function = "old.work"});
  EXPECT_EQ(told.status, 503);
  EXPECT_EQ(told.code(), "FUNCTION_DISABLED");
  const auto health = system("urn:cline:forrst:fn:health");
  EXPECT_EQ(health.status, 200);
  EXPECT_EQ(health.body.at("result").at("status"), "degraded");
  EXPECT_EQ(health.body.at("result").at("functions").at("old.work").at("status"), "disabled");
}

TEST_F(SystemFunctions, capabilities_name_everything) {
  const auto result = system("urn:cline:forrst:fn:capabilities").body.at("result").as_object();
  EXPECT_EQ(result.at("protocol_versions"), result.at("protocolVersions"));
  const auto has = [](const json::array& list, std::string_view text) {
    return std::ranges::any_of(list, [&](const json::value& each) {
      return (each.is_object() ? each.at("urn") : each).as_string() == text;
    });
  };
  EXPECT_TRUE(has(result.at("functions").as_array(), "payments.charge"));
  EXPECT_TRUE(
      has(result.at("functions").as_array(), "urn:cline:forrst:ext:atomic-lock:fn:force-release"));
  EXPECT_TRUE(has(result.at("extensions").as_array(), "urn:forrst:ext:atomicLock"));
  EXPECT_EQ(result.at("limits").at("max_request_bytes"), forrst::max_request_bytes);
}

TEST_F(SystemFunctions, describe_tells_of_one_function_with_its_rules) {
  add({.name = "payments.charge", .version = "2.0.0-beta.1", .handler = nothing});
  const auto told = describe({{"function", "payments.charge"}});
  EXPECT_EQ(told.at("recommended_version"), "1.0.0");
  const auto& versions = told.at("versions").as_array();
  ASSERT_EQ(versions.size(), 2U);
  EXPECT_EQ(versions[0].at("version"), "2.0.0-beta.1");
  EXPECT_EQ(versions[0].at("stability"), "beta");
  const auto& schema = versions[1].at("schema").at("arguments");
  EXPECT_EQ(schema.at("properties").at("amount").at("type"), "integer");
  EXPECT_EQ(schema.at("required"), json::array{"user_id"});
  EXPECT_EQ(describe({{"function", "payments.charge"}, {"version", "1.0.0"}})
                .at("versions")
                .as_array()
                .size(),
            1U);
}

TEST_F(SystemFunctions, describe_tells_of_all) {
  const auto told = describe({{"include_schema", false}});
  EXPECT_EQ(told.at("functions").as_array().size(), system("urn:cline:forrst:fn:capabilities")
                                                        .body.at("result")
                                                        .at("functions")
                                                        .as_array()
                                                        .size());
}

TEST_F(SystemFunctions, describe_of_nothing_is_not_found) {
  const auto told = system("urn:cline:forrst:fn:describe", {{"function", "no.such"}});
  EXPECT_EQ(told.code(), "FUNCTION_NOT_FOUND");
  EXPECT_EQ(told.pointer(), "/call/arguments/function");
}

class Versions : public ForrstService {
 protected:
  void add_version(std::string version) {
    add({.name = "a.b", .version = version, .handler = [version](const Invocation&) -> Outcome {
           return json::value(version);
         }});
  }
  std::string chosen(std::optional<std::string> version) {
    const auto told = ask({.function = "a.b", .version = std::move(version)});
    return told.is_good() ? std::string(told.body.at("result").as_string()) : told.code();
  }
};

TEST_F(Versions, the_newest_stable_one_is_chosen) {
  for (const auto* version : {"1.9.0", "1.10.0", "2.0.0-rc.1", "0.9.9"}) add_version(version);
  EXPECT_EQ(chosen(std::nullopt), "1.10.0");
  EXPECT_EQ(chosen("2.0.0-rc.1"), "2.0.0-rc.1");
  EXPECT_EQ(chosen("1.9.0"), "1.9.0");
  const auto told = ask({.function = "a.b", .version = "1.9"});
  EXPECT_EQ(told.code(), "INVALID_REQUEST");
}

TEST_F(Versions, what_is_missing_is_told_with_what_is_there) {
  for (const auto* version : {"1.0.0-alpha", "1.0.0-beta"}) add_version(version);
  const auto none = ask({.function = "a.b"});
  EXPECT_EQ(none.status, 404);
  EXPECT_EQ(none.message(), "No stable version found for function a.b");
  EXPECT_EQ(none.error().at("details").at("available_versions"),
            (json::array{"1.0.0-beta", "1.0.0-alpha"}));
  const auto other = ask({.function = "a.b", .version = "3.0.0"});
  EXPECT_EQ(other.message(), "Version 3.0.0 not found for function a.b");
  EXPECT_EQ(other.error().at("details").at("requested_version"), "3.0.0");
}

TEST_F(Versions, a_protocol_of_another_minor_is_welcome) {
  auto text = Question{}.text();
  text.replace(text.find("0.1.0"), 5, "0.7.3");
  EXPECT_TRUE(ask_text(text).is_good());
}

class Adding : public ForrstService {
 protected:
  std::string refused(forrst::Function function) {
    const auto added = service->add(std::move(function));
    return added ? "added" : added.error().message;
  }
};

TEST_F(Adding, what_is_wrong_with_a_function_is_said) {
  EXPECT_NE(refused({.name = "", .handler = nothing}).find("name"), std::string::npos);
  EXPECT_NE(refused({.name = "forrst.x", .handler = nothing}).find("keeps"), std::string::npos);
  EXPECT_NE(refused({.name = "urn:cline:forrst:fn:x", .handler = nothing}).find("keeps"),
            std::string::npos);
  EXPECT_NE(refused({.name = "a.b", .version = "1", .handler = nothing}).find("version"),
            std::string::npos);
  EXPECT_NE(refused({.name = "a.b"}).find("handler"), std::string::npos);
  EXPECT_NE(refused({.name = "payments.charge", .handler = nothing}).find("already"),
            std::string::npos);
  EXPECT_NE(refused({.name = "a.b", .handler = nothing, .timeout = 0s}).find("timeout"),
            std::string::npos);
  EXPECT_NE(refused({.name = "a.b", .handler = nothing, .side_effects = {"explode"}})
                .find("side_effects"),
            std::string::npos);
  EXPECT_NE(
      refused({.name = "a.b", .handler = nothing, .excluded_extensions = {"magic"}}).find("magic"),
      std::string::npos);
  EXPECT_NE(
      refused({.name = "a.b",
               .arguments = {{.name = "x", .type = Type::integer, .minimum = 5, .maximum = 1}},
               .handler = nothing})
          .find("x"),
      std::string::npos);
}

TEST_F(Adding, a_function_that_waits_without_a_thread) {
  add({.name = "quick.work", .async_handler = [](Invocation call) -> Task<Outcome> {
         co_return json::value(call.arguments.at("x"));
       }});
  EXPECT_EQ(ask({.function = "quick.work", .arguments = {{"x", 5}}}).body.at("result"), 5);
}

TEST_F(Adding, one_that_throws_is_an_internal_error) {
  add({.name = "bad.work", .async_handler = [](Invocation) -> Task<Outcome> {
         throw std::runtime_error("secret");
         co_return nullptr;
       }});
  add({.name = "worse.work",
       .async_handler = [](Invocation) -> Task<Outcome> { throw std::runtime_error("secret"); }});
  for (const auto* name : {"bad.work", "worse.work"}) {
    const auto told = ask({.function = name});
    EXPECT_EQ(told.code(), "INTERNAL_ERROR");
    EXPECT_EQ(told.raw.find("secret"), std::string::npos);
  }
}

TEST_F(Adding, more_calls_than_can_wait_are_refused) {
  serve({.threads = 1, .max_waiting_calls = 1});
  std::latch go_on{1};
  charge = [&](const Invocation&) -> Outcome {
    go_on.wait();
    return nullptr;
  };
  std::vector<std::jthread> callers;
  std::atomic<int> refused{0};
  callers.emplace_back([&] { ask({}); });
  EXPECT_TRUE(eventually([&] { return charges == 1; }));
  for (int each = 0; each < 5; ++each) {
    callers.emplace_back([&] {
      if (ask({}).code() == "UNAVAILABLE") ++refused;
    });
  }
  EXPECT_TRUE(eventually([&] { return refused == 4; }));
  go_on.count_down();
  callers.clear();
  EXPECT_EQ(refused, 4);
}

}  // namespace
}  // namespace holdfast::test
