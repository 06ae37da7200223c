// SPDX-License-Identifier: Apache-2.0
//
// What must hold for every route there is, also for those that are yet to be written.
#include "server/endpoints/routes.hpp"

#include "net/http/message.hpp"
#include "server/auth/secret.hpp"
#include "server_fixture.hpp"

#include <sys/stat.h>

#include <fstream>
#include <set>

namespace holdfast::server {
namespace {

// The path with something in place of its parameters.
std::string path_of(const Route& route) {
  std::string path(route.pattern);
  for (auto at = path.find('{'); at != std::string::npos; at = path.find('{')) {
    path.replace(at, path.find('}') - at + 1, "x");
  }
  return path;
}

class RoutesTest : public ServerTest {
 protected:
  HttpAnswer ask(const Route& route, HttpCall what) {
    what.method = to_string(route.method);
    what.path = path_of(route);
    return call(what);
  }
  void need_tokens() {
    options.token_file = (folder_.path() / "tokens").string();
    std::ofstream(options.token_file) << "reader " << to_hex(hash_of("secret")) << " read *\n";
    ASSERT_EQ(chmod(options.token_file.c_str(), 0600), 0);
  }

 private:
  test::TemporaryFolder folder_;
};

TEST_F(RoutesTest, only_these_are_open_to_everybody) {
  std::set<std::string> open;
  for (const auto& route : all_routes().routes()) {
    if (route.access == Access::open) open.insert(std::string(route.pattern));
  }
  for (const auto& each : open) {
    EXPECT_TRUE(each == "/health" || each == "/" || each == "/assets/{file}")
        << each << " needs no token: is that meant?";
  }
}

TEST_F(RoutesTest, nobody_without_a_token_passes) {
  need_tokens();
  start();
  for (const auto& route : all_routes().routes()) {
    if (route.access == Access::open) continue;
    const auto answer = ask(route, {});
    EXPECT_EQ(answer.status, 401) << route.pattern;
    EXPECT_EQ(answer.header("www-authenticate"), "Bearer") << route.pattern;
  }
}

TEST_F(RoutesTest, a_token_for_reading_changes_nothing) {
  need_tokens();
  start();
  for (const auto& route : all_routes().routes()) {
    if (route.access == Access::open || route.access == Access::read) continue;
    EXPECT_EQ(ask(route, {.headers = {{"Authorization", "Bearer secret"}}}).status, 403)
        << route.pattern;
  }
}

TEST_F(RoutesTest, no_page_of_another_site_passes) {
  start();
  for (const auto& route : all_routes().routes()) {
    if (route.access == Access::open) continue;
    EXPECT_EQ(ask(route, {.headers = {{"Origin", "https://evil.example"}}}).status, 403)
        << route.pattern;
    HttpConnection connection(address);
    connection.send(test::request_text(
        {.method = std::string(to_string(route.method)), .path = path_of(route)}, "evil.example"));
    EXPECT_EQ(connection.receive().status, 403) << route.pattern;
  }
}

TEST_F(RoutesTest, no_form_of_a_page_passes_for_json) {
  start();
  for (const auto& route : all_routes().routes()) {
    const auto answer = ask(route, {.body = "a=b", .headers = {{"Content-Type", "text/plain"}}});
    EXPECT_EQ(answer.status, 415) << route.pattern;
  }
}

TEST_F(RoutesTest, what_is_no_json_is_nobodys_fault_but_the_callers) {
  start();
  for (const auto& route : all_routes().routes()) {
    if (route.method != Method::post || !route.pattern.starts_with("/v1/")) continue;
    for (const auto* body : {"{", "[]", "{\"\\u0000\":1}", "{\"owner\":{}}"}) {
      const auto answer = ask(route, {.body = body});
      EXPECT_GE(answer.status, 400) << route.pattern << body;
      EXPECT_LT(answer.status, 500) << route.pattern << body << answer.body;
      EXPECT_EQ(answer.header("content-type"), "application/problem+json") << route.pattern;
    }
  }
}

TEST_F(RoutesTest, other_methods_are_refused_with_those_that_are_there) {
  start();
  for (const auto& route : all_routes().routes()) {
    const auto answer = call({.method = "BREW", .path = path_of(route)});
    EXPECT_EQ(answer.status, 405) << route.pattern;
    EXPECT_NE(answer.header("allow").find(to_string(route.method)), std::string::npos)
        << route.pattern;
  }
}

}  // namespace
}  // namespace holdfast::server
