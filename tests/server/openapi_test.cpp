// SPDX-License-Identifier: Apache-2.0
//
// The OpenAPI document against the routes, and a call for every answer it promises everywhere. What
// the answers look like is compared by tests/server/check_openapi.
#include "client/core.hpp"
#include "runtime/runtime.hpp"
#include "server/endpoints/forrst/answers.hpp"
#include "server/endpoints/routes.hpp"
#include "server/openapi/document.hpp"
#include "server/openapi/page.hpp"
#include "server/openapi/schema_text.hpp"
#include "server_fixture.hpp"
#include "support/temporary_folder.hpp"

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <set>

namespace holdfast::server {
namespace {

namespace json = boost::json;

// A store that answers everything with one error.
class TroubledStore final : public store::Store {
 public:
  explicit TroubledStore(Errc code) : code_(code) {}

  Task<Result<store::Reply>> apply(store::Request) override {
    return Task<Result<store::Reply>>(fail(code_, "trouble"));
  }
  Result<std::unique_ptr<store::Listening>> listen(const LockName&, const OwnerId&,
                                                   model::RequestId) override {
    return fail(code_, "trouble");
  }
  Task<Result<LockPage>> list(store::ListRequest) override {
    return Task<Result<LockPage>>(fail(code_, "trouble"));
  }
  Result<void> supports(const model::LockSpec&) const override {
    if (code_ == Errc::unsupported) return fail(code_, "trouble");
    return {};
  }
  store::Capabilities capabilities() const override { return {}; }
  std::string describe() const override { return "troubled:"; }

 private:
  const Errc code_;
};

std::string in_capitals(std::string_view word) {
  std::string out(word);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return std::toupper(c); });
  return out;
}

// One operation of the document, with its examples filled in.
struct Documented {
  std::string pattern;
  std::string access;  // "open", "read", "lock", "admin"
  HttpCall example;
  std::set<std::string> statuses;
  bool has_body = false;
};

Documented documented(std::string_view path, std::string_view method, const json::object& about) {
  Documented out{.pattern = std::string(path), .example = {.method = in_capitals(method)}};
  const auto& security = about.at("security").as_array();
  out.access = security.empty() ? "open" : std::string(security[0].at("token").at(0).as_string());
  for (const auto& each : about.at("responses").as_object()) out.statuses.emplace(each.key());
  out.example.path = path;
  std::string query;
  const auto* parameters = about.if_contains("parameters");
  for (const auto& each : parameters != nullptr ? parameters->as_array() : json::array()) {
    const auto& parameter = resolved(openapi_document(), each.as_object());
    const auto name = std::string(text_of(parameter, "name"));
    const auto example = std::string(text_of(parameter, "example"));
    if (example.empty()) continue;
    const auto slot = "{" + name + "}";
    const auto at = out.example.path.find(slot);
    if (at != std::string::npos) out.example.path.replace(at, slot.size(), example);
    if (text_of(parameter, "in") == "header") out.example.headers[name] = example;
    if (text_of(parameter, "in") == "query")
      query += (query.empty() ? "?" : "&") + name + "=" + example;
  }
  out.example.path += query;
  if (const auto* body = about.if_contains("requestBody")) {
    out.has_body = true;
    const auto& content = body->at("content").at("application/json").as_object();
    if (const auto* example = content.if_contains("example")) {
      out.example.body = json::serialize(*example);
    }
  }
  return out;
}

std::vector<Documented> all_documented() {
  std::vector<Documented> all;
  for (const auto& path : openapi_document().at("paths").as_object()) {
    for (const auto& method : path.value().as_object()) {
      all.push_back(documented(path.key(), method.key(), method.value().as_object()));
    }
  }
  return all;
}

std::string_view word_of(Access access) {
  constexpr std::array<std::string_view, 4> words{"open", "read", "lock", "admin"};
  return words[static_cast<std::size_t>(access)];
}

std::string as_line(std::string_view method, std::string_view path, std::string_view access) {
  return fmt::format("{} {} {}", method, path, access);
}

TEST(OpenApi, has_every_route_with_the_verb_it_needs_and_no_other) {
  std::set<std::string> routes;
  for (const auto& route : all_routes().routes()) {
    routes.insert(as_line(to_string(route.method), route.pattern, word_of(route.access)));
  }
  std::set<std::string> document;
  for (const auto& each : all_documented()) {
    document.insert(as_line(each.example.method, each.pattern, each.access));
  }
  EXPECT_EQ(document, routes);
}

TEST(OpenApi, refers_to_nothing_that_is_not_there) {
  const std::string text(openapi_json());
  for (std::size_t at = 0; (at = text.find("\"$ref\": \"", at)) != std::string::npos; ++at) {
    const auto begin = at + 9;
    const auto reference = text.substr(begin, text.find('"', begin) - begin);
    EXPECT_NO_THROW(resolved(openapi_document(), {{"$ref", reference}})) << reference;
  }
}

TEST(DocsPage, has_every_route_and_needs_nothing_from_elsewhere) {
  const auto page = page_of(openapi_document());
  for (const auto& each : all_documented()) {
    const auto heading =
        fmt::format("<b>{}</b> <code>{}</code>", each.example.method, each.pattern);
    EXPECT_NE(page.find(heading), std::string::npos) << heading;
  }
  for (const auto* foreign : {"<script", "src=", "@import", "url(", "<link", "<img"}) {
    EXPECT_EQ(page.find(foreign), std::string::npos) << foreign;
  }
}

TEST(DocsPage, says_what_would_be_markup_as_text) {
  EXPECT_EQ(escaped("<a href='x'>&\"</a>"), "&lt;a href=&#39;x&#39;&gt;&amp;&quot;&lt;/a&gt;");
  EXPECT_EQ(prose("`ttl` < 3"), "<code>ttl</code> &lt; 3");
}

class OpenApiCalls : public ServerTest {
 protected:
  void with_tokens() {
    std::ofstream(tokens_) << "reader " << hash_of_reader << " read *\n"
                           << "locker " << hash_of_locker << " lock mine:\n";
    std::filesystem::permissions(tokens_, std::filesystem::perms::owner_read);
    options.token_file = tokens_;
  }
  void on_trouble(Errc code) {
    auto core = client::make_core(std::make_shared<TroubledStore>(code), runtime::shared_runtime());
    options.listen = {"127.0.0.1:0"};
    auto started = Server::start(options, std::move(core));
    ASSERT_TRUE(started) << started.error().message;
    server = std::move(*started);
    address = server->addresses().front();
  }
  // Every operation that documents the status answers it when it is called so.
  template <typename Change>
  void expect_everywhere(int status, Change change) {
    for (const auto& each : all_documented()) {
      if (!each.statuses.contains(std::to_string(status))) continue;
      HttpCall what = each.example;
      if (!change(each, what)) continue;
      EXPECT_EQ(call(what).status, status) << what.method << " " << what.path << " " << what.body;
    }
  }

  // printf %s reader-token | sha256sum
  static constexpr auto hash_of_reader =
      "ba5005a40cf5212e4ac0190104cc127edab013294bb71279a975b27a80982d45";
  static constexpr auto hash_of_locker =
      "fea47895995ea3f73d254cd6345c8b2d4332c600bad861188a21597eb553521a";

 private:
  test::TemporaryFolder folder_;
  const std::string tokens_ = (folder_.path() / "tokens").string();
};

TEST_F(OpenApiCalls, the_document_and_its_page_are_served) {
  start();
  const auto document = get("/openapi.json");
  EXPECT_EQ(document.status, 200);
  EXPECT_EQ(document.json().at("openapi").as_string(), "3.1.0");
  EXPECT_EQ(document.body.find("@PROJECT_VERSION@"), std::string::npos);
  const auto page = get("/docs");
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.headers.at("content-type"), "text/html; charset=utf-8");
  EXPECT_EQ(page.headers.at("content-security-policy"),
            "default-src 'none'; style-src 'unsafe-inline'");
}

TEST_F(OpenApiCalls, without_a_token_everything_guarded_is_401) {
  with_tokens();
  start();
  expect_everywhere(401, [](const Documented&, HttpCall&) { return true; });
}

TEST_F(OpenApiCalls, from_a_page_of_another_site_everything_guarded_is_403) {
  start();
  expect_everywhere(403, [](const Documented&, HttpCall& what) {
    what.headers["Origin"] = "https://elsewhere.example";
    return true;
  });
}

TEST_F(OpenApiCalls, a_verb_that_a_token_lacks_is_403) {
  with_tokens();
  start();
  expect_everywhere(403, [](const Documented& operation, HttpCall& what) {
    what.headers["Authorization"] = "Bearer reader-token";
    return operation.access == "lock" || operation.access == "admin";
  });
}

TEST_F(OpenApiCalls, a_name_that_a_token_does_not_cover_is_403_or_404) {
  with_tokens();
  start();
  const std::map<std::string, std::string> headers{{"Authorization", "Bearer locker-token"}};
  const auto ask = [&](std::string method, std::string path, std::string body) {
    return call({.method = std::move(method),
                 .path = std::move(path),
                 .body = std::move(body),
                 .headers = headers})
        .status;
  };
  EXPECT_EQ(ask("POST", "/v1/locks/yours/acquire", "{}"), 403);
  EXPECT_EQ(ask("POST", "/v1/locks:acquire-all", R"({"names":["mine:a","yours"]})"), 403);
  EXPECT_EQ(ask("POST", "/v1/fences/yours/check", R"({"fence":1})"), 403);
  EXPECT_EQ(ask("POST", "/v1/rate-limits/yours/check", R"({"rate":"1/s"})"), 403);
  EXPECT_EQ(ask("POST", "/v1/rate-limits/yours/peek", R"({"rate":"1/s"})"), 403);
  EXPECT_EQ(ask("POST", "/v1/rate-limits/mine:a/check", R"({"rate":"1/s"})"), 200);
  EXPECT_EQ(ask("POST", "/v1/idempotency/yours/begin", "{}"), 403);
  EXPECT_EQ(ask("POST", "/v1/idempotency/mine:a/begin", "{}"), 200);
  EXPECT_EQ(ask("POST", "/api/locks/simple/x", R"({"durationMs":0})"), 403);
  EXPECT_EQ(ask("POST", "/v1/locks/yours/renew", R"({"owner":"me"})"), 404);
  EXPECT_EQ(ask("POST", "/v1/locks/yours/release", R"({"owner":"me"})"), 404);
  EXPECT_EQ(ask("GET", "/v1/locks/yours", {}), 404);
}

TEST_F(OpenApiCalls, a_token_that_asks_too_often_is_429) {
  with_tokens();
  options.limits.token_requests_per_s = 1;
  start();
  for (const auto& each : all_documented()) {
    if (!each.statuses.contains("429")) continue;
    HttpCall what{.method = each.example.method, .path = each.example.path};
    what.headers["Authorization"] = "Bearer reader-token";
    what.headers["Last-Event-ID"] = "none";  // no stream, where it is not refused before
    int status = 0;
    for (int attempt = 0; attempt < 4 && status != 429; ++attempt) status = call(what).status;
    EXPECT_EQ(status, 429) << what.path;
  }
}

TEST_F(OpenApiCalls, a_body_that_is_not_json_is_415) {
  start();
  expect_everywhere(415, [](const Documented&, HttpCall& what) {
    what.body = "owner=me";
    what.headers["Content-Type"] = "application/x-www-form-urlencoded";
    return true;
  });
}

TEST_F(OpenApiCalls, what_nobody_asked_for_is_400) {
  start();
  expect_everywhere(400, [](const Documented& operation, HttpCall& what) {
    if (operation.pattern.starts_with("/v1/store/")) {
      what.headers.clear();  // no version of the protocol
    } else if (operation.has_body) {
      what.body = R"({"nobody_asked":1})";
    } else if (operation.pattern.ends_with("}")) {
      what.path = "/v1/locks/%01";
    } else {
      what.path += "?limit=none";
    }
    return true;
  });
}

TEST_F(OpenApiCalls, a_store_that_does_not_answer_is_503_and_a_lost_answer_504) {
  on_trouble(Errc::unavailable);
  const auto plain = [](const Documented& operation, HttpCall&) {
    return operation.pattern != "/api/locks/{pattern}/{resourceId}";
  };
  expect_everywhere(503, plain);
  on_trouble(Errc::outcome_unknown);
  // What Forrst asks of the store may be asked again; its 504 is a function's.
  expect_everywhere(504, [&](const Documented& operation, HttpCall& what) {
    return plain(operation, what) && !is_forrst_path(operation.pattern);
  });
}

TEST_F(OpenApiCalls, a_pattern_whose_store_is_in_trouble_is_500_and_one_it_cannot_do_422) {
  on_trouble(Errc::unavailable);
  EXPECT_EQ(post("/api/locks/simple/order-7", R"({"durationMs":0})").status, 500);
  on_trouble(Errc::unsupported);
  EXPECT_EQ(post("/api/locks/fair/order-7", R"({"durationMs":0})").status, 422);
}

TEST_F(OpenApiCalls, a_store_that_cannot_count_is_422) {
  on_trouble(Errc::unsupported);
  for (const auto* verb : {"check", "peek", "reset"}) {
    EXPECT_EQ(post(fmt::format("/v1/rate-limits/a/{}", verb), R"({"rate":"1/s"})").status, 422);
  }
}

TEST_F(OpenApiCalls, a_store_that_keeps_no_runs_is_422) {
  on_trouble(Errc::unsupported);
  for (const auto& each : all_documented()) {
    if (!each.pattern.starts_with("/v1/idempotency/")) continue;
    EXPECT_EQ(call(each.example).status, 422) << each.example.method << each.example.path;
  }
}

TEST_F(OpenApiCalls, the_examples_of_the_store_protocol_are_understood) {
  start();
  for (const auto& each : all_documented()) {
    const bool is_stream = each.pattern.ends_with("/stream");
    if (!each.pattern.starts_with("/v1/store/") || is_stream) continue;
    const auto answer = call(each.example);
    // The store in memory keeps no trail.
    EXPECT_EQ(answer.status, each.pattern.ends_with("/history") ? 422 : 200) << answer.body;
  }
}

TEST_F(OpenApiCalls, an_acquire_may_ask_for_what_is_not_there) {
  start();
  EXPECT_EQ(post("/v1/locks/a/acquire", R"({"dialect":"plain"})").status, 422);
  EXPECT_EQ(post("/v1/locks:acquire-all", R"({"names":["a"],"dialect":"plain"})").status, 422);
  EXPECT_EQ(post("/v1/locks/a/acquire", R"({"session":"long gone"})").status, 404);
  ASSERT_EQ(post("/v1/locks/a/acquire").status, 200);
  EXPECT_EQ(post("/v1/locks:acquire-all", R"({"names":["a"],"wait":"20ms"})").status, 408);
  EXPECT_EQ(post("/v1/locks:acquire-all", R"({"names":["a"]})").status, 409);
}

TEST_F(OpenApiCalls, sixty_four_names_at_once_and_no_more) {
  start();
  json::array names;
  for (int each = 0; each < 64; ++each) names.emplace_back(fmt::format("n{}", each));
  EXPECT_EQ(post("/v1/locks:acquire-all", json::serialize(json::object{{"names", names}})).status,
            200);
  names.emplace_back("one more");
  EXPECT_EQ(post("/v1/locks:acquire-all", json::serialize(json::object{{"names", names}})).status,
            400);
}

TEST_F(OpenApiCalls, looking_at_what_is_going_on) {
  start();
  ASSERT_EQ(post("/v1/locks/a/acquire", R"({"metadata":{"note":"x","host":"h","pid":1}})").status,
            200);
  for (const auto* path : {"/v1/locks", "/v1/locks?prefix=a&limit=1", "/v1/stats", "/v1/deadlocks",
                           "/v1/sessions", "/v1/audit", "/metrics", "/health"}) {
    EXPECT_EQ(get(path).status, 200) << path;
  }
  EXPECT_EQ(get("/v1/locks/nobody").status, 404);
}

}  // namespace
}  // namespace holdfast::server
