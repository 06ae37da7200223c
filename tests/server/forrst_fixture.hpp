// SPDX-License-Identifier: Apache-2.0
//
// Calls of Forrst functions, and functions that do what a test writes.
#pragma once

#include "server_fixture.hpp"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::server {

inline constexpr std::string_view ping = "urn:cline:forrst:ext:diagnostics:fn:ping";
inline constexpr std::string_view lock_status = "urn:cline:forrst:ext:atomic-lock:fn:status";
inline constexpr std::string_view lock_release = "urn:cline:forrst:ext:atomic-lock:fn:release";

// The bytes of a request; `extensions` is the JSON of the list.
inline std::string forrst_request(std::string_view function,
                                  const boost::json::object& arguments = {},
                                  std::string_view extensions = "[]") {
  return fmt::format(R"({{"protocol":{{"name":"forrst","version":"0.1.0"}},"id":"req_1",)"
                     R"("call":{{"function":"{}","arguments":{}}},"extensions":{}}})",
                     function, boost::json::serialize(arguments), extensions);
}

inline std::string lock_extension(std::string_view key, std::string_view more = "") {
  return fmt::format(R"([{{"urn":"urn:forrst:ext:atomicLock",)"
                     R"("options":{{"key":"{}","ttl":{{"value":30,"unit":"second"}}{}}}}}])",
                     key, more);
}

// The code of the first error; empty if there is none.
inline std::string first_code(const boost::json::value& answer) {
  const auto* object = answer.if_object();
  const auto* errors = object != nullptr ? object->if_contains("errors") : nullptr;
  if (errors == nullptr || !errors->is_array() || errors->get_array().empty()) return "";
  return std::string(errors->get_array()[0].at("code").as_string());
}

class ForrstTest : public ServerTest {
 protected:
  // A program of the test's own, for no interpreter but sh.
  std::string script(const std::string& name, const std::string& text) {
    const auto path = file(name);
    std::ofstream(path) << "#!/bin/sh\n" << text << "\n";
    EXPECT_EQ(chmod(path.c_str(), 0700), 0);
    return path;
  }
  std::string file(const std::string& name) const { return (folder_.path() / name).string(); }

  ForrstFunction& offer(std::string name) {
    auto& function = options.forrst.functions.emplace_back();
    function.about.name = std::move(name);
    return function;
  }
  ForrstFunction& offer_command(std::string name, std::vector<std::string> words) {
    auto& function = offer(std::move(name));
    function.command = std::move(words);
    return function;
  }

  HttpAnswer invoke(std::string_view function, const boost::json::object& arguments = {},
                    std::string_view extensions = "[]") {
    return post("/forrst", forrst_request(function, arguments, extensions));
  }
  bool is_locked(std::string_view full_key) {
    const auto answer = invoke(lock_status, {{"key", full_key}});
    EXPECT_EQ(answer.status, 200) << answer.body;
    return answer.json().at("result").at("locked").as_bool();
  }
  // What a script has written to a file, once it has.
  std::string written(const std::string& name) {
    std::string text;
    test::eventually([&] {
      std::ifstream in(file(name));
      std::getline(in, text);
      return !text.empty() && !in.eof();
    });
    return text;
  }

 private:
  test::TemporaryFolder folder_;
};

}  // namespace holdfast::server
