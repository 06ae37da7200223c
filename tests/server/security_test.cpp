// SPDX-License-Identifier: Apache-2.0
//
// Who is let in, and what those who are not may learn.
#include "cli/holdfast_program.hpp"
#include "server/auth/secret.hpp"
#include "server_fixture.hpp"

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include <fstream>
#include <set>

namespace holdfast::server {
namespace {

using namespace std::chrono_literals;

class TokenTest : public ServerTest {
 protected:
  void SetUp() override {
    options.token_file = (folder_.path() / "tokens").string();
    std::ofstream(options.token_file)
        << "reader " << to_hex(hash_of("reader-secret")) << " read *\n"
        << "bot " << to_hex(hash_of("bot-secret")) << " lock a:,c:,c:deep:\n"
        << "boss " << to_hex(hash_of("boss-secret")) << " admin *\n"
        << "a-boss " << to_hex(hash_of("a-boss-secret")) << " admin a:\n";
    ASSERT_EQ(chmod(options.token_file.c_str(), 0600), 0);
    start();
  }
  HttpAnswer as(const std::string& token, HttpCall what) {
    what.headers["Authorization"] = "Bearer " + token + "-secret";
    return call(what);
  }
  HttpAnswer take(const std::string& token, const std::string& name) {
    return as(token, {.method = "POST", .path = "/v1/locks/" + name + "/acquire", .body = "{}"});
  }
  // An answer without its name, time and id.
  static std::string masked(const HttpAnswer& answer, const std::string& name) {
    std::string text = fmt::format("{}\n", answer.status);
    for (const auto& [header, value] : answer.headers) {
      if (header != "x-request-id") text += header + ": " + value + "\n";
    }
    text += answer.body;
    for (auto at = text.find(name); at != std::string::npos; at = text.find(name)) {
      text.replace(at, name.size(), "NAME");
    }
    return text;
  }

 private:
  test::TemporaryFolder folder_;
};

TEST_F(TokenTest, without_a_token_nobody_gets_in) {
  for (const auto& [method, path] : {std::pair<std::string, std::string>{"GET", "/v1/locks"},
                                     {"GET", "/v1/locks/a"},
                                     {"GET", "/v1/events"},
                                     {"GET", "/v1/audit"},
                                     {"GET", "/v1/stats"},
                                     {"GET", "/v1/deadlocks"},
                                     {"GET", "/v1/sessions"},
                                     {"GET", "/metrics"},
                                     {"POST", "/v1/sessions"},
                                     {"POST", "/v1/locks/a/acquire"},
                                     {"POST", "/v1/locks/a/renew"},
                                     {"POST", "/v1/locks/a/release"},
                                     {"POST", "/v1/fences/a/check"},
                                     {"DELETE", "/v1/locks/a"}}) {
    const auto answer = call({.method = method, .path = path});
    EXPECT_EQ(answer.status, 401) << path;
    EXPECT_EQ(answer.code(), "unauthenticated") << path;
    EXPECT_TRUE(answer.headers.at("www-authenticate").starts_with("Bearer")) << path;
  }
}

TEST_F(TokenTest, what_is_almost_a_token_is_none) {
  for (const auto* header : {"Bearer wrong", "Bearer reader-secre", "Bearer reader-secretx",
                             "Bearer  ", "Bearer", "reader-secret", "Basic reader-secret",
                             "Bearer READER-SECRET", "Bearer reader-secret, x"}) {
    EXPECT_EQ(call({.path = "/v1/locks", .headers = {{"Authorization", header}}}).status, 401)
        << header;
  }
  EXPECT_EQ(as("reader", {.path = "/v1/locks"}).status, 200);
  EXPECT_EQ(call({.path = "/v1/locks?token=reader-secret"}).status, 401);
}

TEST_F(TokenTest, a_token_for_reading_may_not_lock) {
  EXPECT_EQ(take("reader", "a:1").status, 403);
  EXPECT_EQ(take("reader", "a:1").code(), "forbidden");
  EXPECT_EQ(as("reader", {.method = "POST", .path = "/v1/sessions"}).status, 403);
  EXPECT_EQ(as("reader", {.path = "/v1/locks/a:1"}).status, 404);
}

TEST_F(TokenTest, only_an_admin_takes_locks_away_and_reads_the_audit_trail) {
  ASSERT_EQ(take("bot", "a:1").status, 200);
  const HttpCall force{.method = "DELETE", .path = "/v1/locks/a:1", .body = R"({"reason":"r"})"};
  EXPECT_EQ(as("bot", force).status, 403);
  EXPECT_EQ(as("reader", force).status, 403);
  for (const auto* token : {"bot", "reader"}) {
    EXPECT_EQ(as(token, {.path = "/v1/audit"}).status, 403) << token;
  }
  EXPECT_EQ(as("boss", {.path = "/v1/audit"}).status, 200);
  EXPECT_EQ(as("boss", force).status, 200);
}

TEST_F(TokenTest, an_admin_of_some_names_sees_the_trail_of_those_alone) {
  ASSERT_EQ(take("boss", "a:1").status, 200);
  ASSERT_EQ(take("boss", "b:1").status, 200);
  const auto trail = as("a-boss", {.path = "/v1/audit"});
  EXPECT_NE(trail.body.find("a:1"), std::string::npos);
  EXPECT_EQ(trail.body.find("b:1"), std::string::npos) << trail.body;
}

TEST_F(TokenTest, a_name_that_is_not_covered_looks_like_one_that_nobody_holds) {
  ASSERT_EQ(take("boss", "b:held").status, 200);
  const auto both = [&](const std::string& token, const HttpCall& what) {
    const auto ask = [&](const std::string& name) {
      auto one = what;
      one.path = "/v1/locks/" + name + what.path;
      return masked(as(token, one), name);
    };
    const auto missing = ask("a:none");
    EXPECT_EQ(ask("b:held"), missing) << what.method << what.path;
    EXPECT_EQ(ask("b:none"), missing) << what.method << what.path;
    EXPECT_TRUE(missing.starts_with("404")) << missing;
  };
  const std::string owner = R"({"owner":"somebody"})";
  both("bot", {.method = "GET", .path = ""});
  both("bot", {.method = "POST", .path = "/renew", .body = owner});
  both("bot", {.method = "POST", .path = "/release", .body = owner});
  both("a-boss", {.method = "DELETE", .path = "", .body = R"({"reason":"r"})"});
}

TEST_F(TokenTest, a_name_that_is_not_covered_is_forbidden_whoever_holds_it) {
  ASSERT_EQ(take("boss", "b:held").status, 200);
  EXPECT_EQ(masked(take("bot", "b:held"), "b:held"), masked(take("bot", "b:none"), "b:none"));
  EXPECT_EQ(take("bot", "b:none").status, 403);
  EXPECT_EQ(take("bot", "a").status, 403);
  EXPECT_EQ(take("bot", "A:1").status, 403);
  EXPECT_EQ(take("bot", "a%3A1").status, 200) << "the same as a:1";
}

TEST_F(TokenTest, a_list_has_neither_names_nor_cursors_of_others) {
  std::set<std::string> wanted;
  for (int i = 0; i < 30; ++i) {
    for (const auto* prefix : {"a:", "b:secret-", "c:", "c:deep:", "d:secret-"}) {
      const auto name = fmt::format("{}{}", prefix, i);
      ASSERT_EQ(take("boss", name).status, 200);
      if (name.starts_with("a:") || name.starts_with("c:")) wanted.insert(name);
    }
  }
  for (const int limit : {1, 3, 7, 1000}) {
    std::multiset<std::string> seen;
    std::string cursor;
    do {
      const auto page =
          as("bot", {.path = fmt::format("/v1/locks?limit={}&cursor={}", limit, cursor)});
      ASSERT_EQ(page.status, 200) << page.body;
      EXPECT_EQ(page.body.find("secret"), std::string::npos) << page.body;
      const auto body = page.json();
      for (const auto& lock : body.at("locks").as_array()) {
        seen.insert(std::string(lock.at("name").as_string()));
      }
      cursor = page.text("next");
      for (auto at = cursor.find('%'); at != std::string::npos; at = cursor.find('%', at + 1)) {
        cursor.replace(at, 1, "%25");
      }
    } while (!cursor.empty());
    EXPECT_EQ(std::set<std::string>(seen.begin(), seen.end()), wanted) << limit;
    EXPECT_EQ(seen.size(), wanted.size()) << "none twice, limit " << limit;
  }
  const auto narrow = as("bot", {.path = "/v1/locks?prefix=c:d"});
  EXPECT_EQ(narrow.json().at("locks").as_array().size(), 30U);
  EXPECT_TRUE(as("bot", {.path = "/v1/locks?prefix=b:"}).json().at("locks").as_array().empty());
  for (const auto* wrong : {"x", "0", "9:", "0:x", "-1:", "99999999999999999999:"}) {
    const auto answer = as("bot", {.path = fmt::format("/v1/locks?cursor={}", wrong)});
    EXPECT_TRUE(answer.status == 400 || answer.body.find(R"("locks":[])") != std::string::npos)
        << wrong << answer.body;
  }
}

TEST_F(TokenTest, events_and_statistics_name_only_what_is_covered) {
  HttpConnection stream(address);
  stream.send(fmt::format(
      "GET /v1/events HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer bot-secret\r\n\r\n", address));
  ASSERT_TRUE(test::eventually(
      [&] { return as("boss", {.path = "/v1/stats"}).number("event_streams") == 1; }));
  for (const auto* name : {"b:hidden", "a:shown"}) {
    ASSERT_EQ(take("boss", name).status, 200);
    ASSERT_EQ(take("boss", name).status, 409);
  }
  const auto events = stream.receive_until("a:shown");
  EXPECT_NE(events.find("a:shown"), std::string::npos) << events;
  EXPECT_EQ(events.find("b:hidden"), std::string::npos) << events;
  const auto stats = as("bot", {.path = "/v1/stats"});
  EXPECT_NE(stats.body.find("a:shown"), std::string::npos) << stats.body;
  EXPECT_EQ(stats.body.find("b:hidden"), std::string::npos) << stats.body;
  EXPECT_EQ(as("bot", {.path = "/metrics"}).body.find("b:hidden"), std::string::npos);
}

TEST_F(TokenTest, a_deadlock_names_only_what_is_covered) {
  const auto acquire = [&](const std::string& name, const std::string& owner,
                           const std::string& wait) {
    const auto body = fmt::format(R"({{"owner":"{}","wait":"{}"}})", owner, wait);
    return test::request_text({.method = "POST",
                               .path = "/v1/locks/" + name + "/acquire",
                               .body = body,
                               .headers = {{"Authorization", "Bearer boss-secret"}}},
                              address);
  };
  HttpConnection one(address);
  HttpConnection two(address);
  one.send(acquire("a:shown", "one", "0s"));
  two.send(acquire("b:hidden", "two", "0s"));
  ASSERT_EQ(one.receive().status, 200);
  ASSERT_EQ(two.receive().status, 200);
  one.send(acquire("b:hidden", "one", "1h"));
  two.send(acquire("a:shown", "two", "1h"));
  ASSERT_TRUE(test::eventually([&] {
    return as("boss", {.path = "/v1/deadlocks"}).body.find("b:hidden") != std::string::npos;
  }));
  const auto seen = as("bot", {.path = "/v1/deadlocks"});
  EXPECT_NE(seen.body.find("a:shown"), std::string::npos) << seen.body;
  EXPECT_EQ(seen.body.find("b:hidden"), std::string::npos) << seen.body;
}

TEST_F(TokenTest, health_is_open_and_says_little) {
  const auto open = get("/health");
  EXPECT_EQ(open.status, 200);
  EXPECT_EQ(open.body.find("memory"), std::string::npos) << open.body;
}

TEST_F(TokenTest, a_foreign_host_does_not_matter_where_a_token_is_needed_but_an_origin_does) {
  const auto with = [&](const std::string& name, const std::string& value) {
    HttpConnection connection(address);
    connection.send("GET /v1/locks HTTP/1.1\r\nAuthorization: Bearer reader-secret\r\n" +
                    (name == "Host" ? std::string() : "Host: " + address + "\r\n") + name + ": " +
                    value + "\r\n\r\n");
    return connection.receive().status;
  };
  EXPECT_EQ(with("Host", "proxy.example"), 200);
  EXPECT_EQ(with("Origin", "https://evil.example"), 403);
}

class BrowserTest : public ServerTest {
 protected:
  HttpAnswer ask(const std::string& host, const std::string& more = {},
                 const std::string& line = "GET /v1/locks") {
    HttpConnection connection(address);
    connection.send(line + " HTTP/1.1\r\nHost: " + host + "\r\n" + more + "\r\n");
    return connection.receive();
  }
  std::string port() const { return address.substr(address.rfind(':')); }
};

TEST_F(BrowserTest, names_that_are_not_ours_are_refused_where_nobody_needs_a_token) {
  start();
  for (const auto* host :
       {"evil.example", "evil.example:3009", "localhost.evil.example", "127.0.0.1.evil.example",
        "localhost:80.evil.example", "[::1].evil", "[::1", "", "localhost:", "127.0.0.2", "::1",
        "evil@localhost", "[::1]x:80", "localhost:80:80"}) {
    const auto answer = ask(host);
    const bool is_fine = std::string_view(host) == "localhost:";
    EXPECT_EQ(answer.status, is_fine ? 200 : 403) << host;
    EXPECT_EQ(answer.code(), is_fine ? "" : "foreign_host") << host;
  }
  for (const auto& host : {"localhost" + port(), std::string("LOCALHOST"), "127.0.0.1" + port(),
                           std::string("[::1]:80"), std::string("[::1]")}) {
    EXPECT_EQ(ask(host).status, 200) << host;
  }
}

TEST_F(BrowserTest, pages_of_other_sites_are_refused) {
  start();
  for (const auto* origin : {"http://evil.example", "null", "https://localhost:1",
                             "http://127.0.0.1", "file://", "http://localhost.evil.example"}) {
    const auto answer = ask(address, fmt::format("Origin: {}\r\n", origin));
    EXPECT_EQ(answer.status, 403) << origin;
    EXPECT_EQ(answer.code(), "foreign_host") << origin;
    EXPECT_FALSE(answer.headers.contains("access-control-allow-origin")) << origin;
  }
  EXPECT_EQ(ask(address, "Origin: http://" + address + "\r\n").status, 200);
  EXPECT_EQ(ask(address, "Origin: http://evil.example\r\n", "OPTIONS /v1/locks").status, 404);
}

TEST_F(BrowserTest, hosts_and_origins_that_are_allowed_get_in) {
  options.allowed_hosts = {"locks.example"};
  options.allowed_origins = {"https://app.example"};
  start();
  EXPECT_EQ(ask("locks.example").status, 200);
  EXPECT_EQ(ask("locks.example:8443").status, 200);
  EXPECT_EQ(ask("other.example").status, 403);
  const auto answer = ask(address, "Origin: https://app.example\r\n");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.headers.at("access-control-allow-origin"), "https://app.example");
  EXPECT_EQ(answer.headers.at("vary"), "Origin");
  EXPECT_EQ(ask(address, "Origin: https://app.example.evil\r\n").status, 403);
  EXPECT_EQ(ask(address, "Origin: http://app.example\r\n").status, 403);
}

TEST_F(BrowserTest, a_preflight_names_the_origin_once) {
  options.allowed_origins = {"https://app.example"};
  start();
  HttpConnection connection(address);
  connection.send("OPTIONS /v1/locks/a/acquire HTTP/1.1\r\nHost: " + address +
                  "\r\nOrigin: https://app.example\r\nAccess-Control-Request-Method: POST\r\n\r\n");
  const auto raw = connection.receive_until("\r\n\r\n");
  EXPECT_TRUE(raw.starts_with("HTTP/1.1 204 ")) << raw;
  const auto first = raw.find("Access-Control-Allow-Origin: https://app.example\r\n");
  ASSERT_NE(first, std::string::npos) << raw;
  EXPECT_EQ(raw.find("Access-Control-Allow-Origin", first + 1), std::string::npos) << raw;
  EXPECT_NE(raw.find("Access-Control-Allow-Methods: GET, POST, DELETE"), std::string::npos) << raw;
}

TEST_F(BrowserTest, a_body_that_is_not_called_json_is_refused) {
  start();
  for (const auto* type :
       {"text/plain", "application/x-www-form-urlencoded", "", "multipart/form-data",
        "application/jsonp", "text/json", "application/json-seq"}) {
    const auto answer = call({.method = "POST",
                              .path = "/v1/locks/a/acquire",
                              .body = "{}",
                              .headers = {{"Content-Type", type}}});
    EXPECT_EQ(answer.status, 415) << type;
    EXPECT_EQ(answer.code(), "content_type") << type;
  }
  EXPECT_EQ(get("/v1/locks/a").status, 404);
  for (const auto* type : {"application/json", "Application/JSON; charset=utf-8"}) {
    EXPECT_EQ(call({.method = "POST",
                    .path = fmt::format("/v1/locks/{}/acquire", std::string(type).size()),
                    .body = "{}",
                    .headers = {{"Content-Type", type}}})
                  .status,
              200)
        << type;
  }
}

using SecurityCli = test::Cli;

TEST_F(SecurityCli, an_address_others_can_reach_needs_tokens_and_tls) {
  for (const auto* where : {"0.0.0.0:0", "[::]:0", "192.0.2.1:0"}) {
    const auto refused = holdfast({"serve", "--listen", where});
    EXPECT_EQ(refused.code, 64) << where;
    EXPECT_NE(refused.err.find("can be reached from other machines"), std::string::npos)
        << refused.err;
  }
  const auto half = holdfast({"serve", "--listen", "0.0.0.0:0", "--insecure-without-auth"});
  EXPECT_EQ(half.code, 64);
  EXPECT_NE(half.err.find("tls.certificate"), std::string::npos) << half.err;
}

}  // namespace
}  // namespace holdfast::server
