// SPDX-License-Identifier: Apache-2.0
//
// The store protocol as it looks on the wire; tests/contract proves that a store works through it.
#include "server/auth/secret.hpp"
#include "server/auth/token_edit.hpp"
#include "server_fixture.hpp"

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <fmt/format.h>

#include <fstream>
#include <thread>

namespace holdfast::server {
namespace {

class StoreApi : public ServerTest {
 protected:
  HttpAnswer apply(const std::string& body, std::map<std::string, std::string> more = {}) {
    more.emplace("Holdfast-Store-Protocol", "1");
    return call({.method = "POST", .path = "/v1/store/apply", .body = body, .headers = more});
  }
  HttpAnswer look(const std::string& path) {
    return call({.path = path, .headers = {{"Holdfast-Store-Protocol", "1"}}});
  }
  static std::string outcome(const HttpAnswer& answer) {
    const auto json = answer.json();
    const auto* of = json.is_object() ? json.get_object().if_contains("outcome") : nullptr;
    return of == nullptr ? answer.body : std::string(of->at("type").as_string());
  }
  static std::string acquire(const std::string& owner, const std::string& more = "") {
    return R"({"name":"orders:42","verb":"acquire","ttl_us":600000000,"request":"1","owner":")" +
           owner + "\"" + more + "}";
  }

  // An open stream, and the name it was given.
  struct OpenStream {
    explicit OpenStream(const std::string& address, const std::string& token = {})
        : connection(address) {
      connection.send("GET /v1/store/stream HTTP/1.1\r\nHost: " + address +
                      "\r\nHoldfast-Store-Protocol: 1\r\n" +
                      (token.empty() ? "" : "Authorization: Bearer " + token + "\r\n") + "\r\n");
      const auto first = wait_for("\"stream\"");
      const auto begin = first.find("\"stream\":\"") + 10;
      name = first.substr(begin, first.find('"', begin) - begin);
    }
    // What has come, once it has this text in it.
    std::string wait_for(std::string_view text) {
      if (!heard.contains(text)) heard += connection.receive_until(text);
      return heard;
    }
    HttpConnection connection;
    std::string heard;
    std::string name;
  };
};

TEST_F(StoreApi, numbers_beyond_63_bits_survive) {
  start();
  EXPECT_EQ(
      outcome(apply(R"({"name":"a","verb":"acquire","owner":"o","request":"18446744073709551615",)"
                    R"("ttl_us":10000000})")),
      "granted");
  EXPECT_EQ(outcome(apply(
                R"({"name":"a","verb":"release","owner":"o","request":"18446744073709551614"})")),
            "not_owner");
  EXPECT_EQ(
      outcome(apply(R"({"name":"a","verb":"release","owner":"o","request":18446744073709551615})")),
      "released");
}

TEST_F(StoreApi, another_version_of_the_protocol_is_refused) {
  start();
  for (const char* version : {"2", "", "one"}) {
    const auto refused = call({.method = "POST",
                               .path = "/v1/store/apply",
                               .body = acquire("anna"),
                               .headers = {{"Holdfast-Store-Protocol", version}}});
    EXPECT_EQ(refused.status, 400);
    EXPECT_EQ(refused.code(), "protocol");
  }
  EXPECT_EQ(get("/v1/store/info").code(), "protocol");
}

TEST_F(StoreApi, what_the_model_does_not_admit_never_reaches_the_store) {
  start();
  const auto refused = apply(R"({"name":"a","verb":"acquire","owner":"o","request":1,"ttl_us":0})");
  EXPECT_EQ(refused.status, 400);
  EXPECT_EQ(refused.code(), "bad_input");
  EXPECT_NE(refused.text("detail").find("ttl"), std::string::npos);
}

TEST_F(StoreApi, every_answer_says_which_server_gave_it) {
  start();
  const auto one = look("/v1/store/info");
  const auto other = apply(acquire("anna"));
  EXPECT_EQ(one.headers.at("holdfast-server"), other.headers.at("holdfast-server"));
  EXPECT_EQ(one.text("server"), one.headers.at("holdfast-server"));
  EXPECT_EQ(one.headers.at("holdfast-server").size(), 32U);
}

TEST_F(StoreApi, a_waiter_is_told_on_its_stream) {
  start();
  EXPECT_EQ(outcome(apply(acquire("anna"))), "granted");
  OpenStream stream(address);
  ASSERT_EQ(stream.name.size(), 32U);
  const auto more = R"(,"wait":true,"stream":")" + stream.name + "\"";
  EXPECT_EQ(outcome(apply(acquire("ben", more))), "queued");
  EXPECT_EQ(outcome(apply(R"({"name":"orders:42","verb":"release","owner":"anna","request":1})")),
            "released");
  const auto heard = stream.wait_for("\"granted\"");
  EXPECT_NE(heard.find(R"("owner":"ben")"), std::string::npos) << heard;
  EXPECT_NE(heard.find(R"("fence":")"), std::string::npos) << heard;
}

TEST_F(StoreApi, a_waiter_whose_stream_ended_does_not_keep_the_lock) {
  start();
  EXPECT_EQ(outcome(apply(acquire("anna"))), "granted");
  {
    OpenStream stream(address);
    const auto more = R"(,"wait":true,"stream":")" + stream.name + "\"";
    EXPECT_EQ(outcome(apply(acquire("ben", more))), "queued");
  }
  // Whether the server has noticed by then or not.
  EXPECT_EQ(outcome(apply(R"({"name":"orders:42","verb":"release","owner":"anna","request":1})")),
            "released");
  EXPECT_TRUE(test::eventually([&] { return outcome(apply(acquire("cleo"))) == "granted"; }));
}

TEST_F(StoreApi, a_stream_that_is_not_there_is_refused) {
  start();
  const auto refused = apply(acquire("ben", R"(,"wait":true,"stream":"nobody")"));
  EXPECT_EQ(refused.status, 404);
  EXPECT_EQ(refused.code(), "unknown_stream");
}

TEST_F(StoreApi, a_token_does_what_its_verbs_and_prefixes_allow) {
  const test::TemporaryFolder folder;
  options.token_file = (folder.path() / "tokens").string();
  const auto add = [&](const std::string& name, Verb verb) {
    const Principal principal{.name = name,
                              .verbs = {verb},
                              .prefixes = {"orders:"},
                              .secret_hash = hash_of("hf_" + name)};
    const auto added = add_token(options.token_file, principal);
    ASSERT_TRUE(added) << added.error().message;
  };
  add("reader", Verb::read);
  add("locker", Verb::lock);
  add("admin", Verb::admin);
  start();
  const auto as = [&](const std::string& who, const std::string& body) {
    return apply(body, {{"Authorization", "Bearer hf_" + who}});
  };
  const std::string look_at = R"({"name":"orders:42","verb":"inspect"})";
  const std::string force = R"({"name":"orders:42","verb":"force"})";
  EXPECT_EQ(apply(look_at).status, 401);
  EXPECT_EQ(outcome(as("reader", look_at)), "seen");
  EXPECT_EQ(as("reader", acquire("anna")).code(), "forbidden");
  EXPECT_EQ(outcome(as("locker", acquire("anna"))), "granted");
  EXPECT_EQ(as("locker", R"({"name":"invoices","verb":"inspect"})").code(), "forbidden");
  EXPECT_EQ(as("locker", force).code(), "forbidden");
  EXPECT_EQ(as("locker", R"({"name":"orders:42","verb":"force_source","source":"s"})").code(),
            "forbidden");
  EXPECT_EQ(outcome(as("admin", force)), "forced");
  // A stream is of whoever opened it.
  OpenStream stream(address, "hf_admin");
  const auto more = R"(,"wait":true,"stream":")" + stream.name + "\"";
  EXPECT_EQ(as("locker", acquire("ben", more)).code(), "unknown_stream");
}

TEST_F(StoreApi, a_token_counts_looks_and_resets_as_its_verbs_and_prefixes_allow) {
  const test::TemporaryFolder folder;
  options.token_file = (folder.path() / "tokens").string();
  const auto add = [&](const std::string& name, Verb verb, std::vector<std::string> prefixes) {
    const Principal principal{.name = name,
                              .verbs = {verb},
                              .prefixes = std::move(prefixes),
                              .secret_hash = hash_of("hf_" + name)};
    const auto added = add_token(options.token_file, principal);
    ASSERT_TRUE(added) << added.error().message;
  };
  add("reader", Verb::read, {});
  add("locker", Verb::lock, {});
  add("stranger", Verb::lock, {"invoices:"});
  add("admin", Verb::admin, {});
  start();
  const auto as = [&](const std::string& who, const std::string& verb,
                      const std::string& name = "orders:sliding:3600000000us") {
    const auto answer =
        apply(R"({"name":")" + name + R"(","verb":"rate_)" + verb +
                  R"(","rule":{"algorithm":"sliding_window","limit":5,"window_us":3600000000,)" +
                  R"("burst":0,"layout":"native"}})",
              {{"Authorization", "Bearer hf_" + who}});
    return answer.status == 200 ? outcome(answer) : answer.code();
  };
  EXPECT_EQ(as("reader", "peek"), "rate");
  EXPECT_EQ(as("reader", "check"), "forbidden");
  EXPECT_EQ(as("locker", "check"), "rate");
  EXPECT_EQ(as("locker", "reset"), "forbidden");
  EXPECT_EQ(as("stranger", "check"), "forbidden");
  EXPECT_EQ(as("admin", "reset"), "rate");
  EXPECT_EQ(as("locker", "check", "holdfast-server:/n8n/*:all::sliding:3600000000us"), "forbidden")
      << "what the server allows its callers is not theirs to spend";
  EXPECT_EQ(as("stranger", "check", "invoices:1:sliding:3600000000us"), "rate");
  EXPECT_EQ(as("stranger", "check", "invoices:sliding:3600000000us"), "forbidden")
      << "the scope is invoices, which the prefix does not cover";
}

// Whoever counts an hour's hits by a millisecond has forgotten them all.
TEST_F(StoreApi, a_limit_is_counted_under_the_name_of_its_rule_alone) {
  start();
  const auto check = [&](const std::string& name, const std::string& rule) {
    return apply(R"({"name":")" + name + R"(","verb":"rate_check","rule":{)" + rule +
                 R"(,"limit":5,"burst":0}})");
  };
  const std::string sliding = R"("algorithm":"sliding_window","layout":"native","window_us":)";
  const std::string of_n8n = R"("algorithm":"fixed_window","layout":"n8n","window_us":60000000)";
  EXPECT_EQ(outcome(check("api:sliding:3600000000us", sliding + "3600000000")), "rate");
  EXPECT_EQ(outcome(check("n8n-ratelimit-api:n8n:60000000us", of_n8n)), "rate");
  for (const auto& [name, rule] : std::map<std::string, std::string>{
           {"api:sliding:3600000000us", sliding + "1000"},
           {"api:bucket:1000us", sliding + "1000"},
           {":sliding:1000us", sliding + "1000"},
           {"api", sliding + "1000"},
           {"session:7:n8n:60000000us", of_n8n},
           {"n8n-ratelimit-:n8n:60000000us", of_n8n},
           {std::string(401, 'x') + ":sliding:1000us", sliding + "1000"}}) {
    const auto refused = check(name, rule);
    EXPECT_EQ(refused.status, 400) << name;
    EXPECT_TRUE(refused.text("detail").starts_with("name: must be ")) << refused.body;
  }
}

TEST_F(StoreApi, a_limit_that_is_reset_through_it_is_in_the_audit_trail_and_checks_are_metrics) {
  start();
  for (const auto* verb : {"check", "check", "reset"}) {
    apply(R"({"name":"orders:sliding:3600000000us","verb":"rate_)" + std::string(verb) +
          R"(","rule":{"algorithm":"sliding_window","limit":1,"window_us":3600000000,)" +
          R"("burst":0,"layout":"native"}})");
  }
  const auto page = get("/v1/audit?limit=1").json();
  const auto& entry = page.at("entries").at(0);
  EXPECT_EQ(entry.at("what"), "rate_limit_reset");
  EXPECT_EQ(entry.at("name"), "orders");
  EXPECT_EQ(entry.at("reason"), "1/h");
  const auto metrics = get("/metrics").body;
  for (const auto* result : {"allowed", "denied"}) {
    const auto line = fmt::format("holdfast_rate_limit_checks_total{{result=\"{}\"}} 1\n", result);
    EXPECT_NE(metrics.find(line), std::string::npos) << result;
  }
}

TEST_F(StoreApi, waiters_and_streams_are_limited) {
  options.limits.max_waiters_per_name = 1;
  options.limits.max_event_streams = 1;
  start();
  EXPECT_EQ(outcome(apply(acquire("anna"))), "granted");
  OpenStream stream(address);
  const auto wait = [&](const std::string& request) {
    return apply(R"({"name":"orders:42","verb":"acquire","owner":"b","ttl_us":10000000,)"
                 R"("wait":true,"stream":")" +
                 stream.name + R"(","request":")" + request + "\"}");
  };
  EXPECT_EQ(outcome(wait("101")), "queued");
  EXPECT_EQ(outcome(wait("101")), "queued") << "asking again is the same waiter";
  EXPECT_EQ(wait("102").code(), "limit_reached");
  // Leaving the queue makes room.
  EXPECT_EQ(outcome(apply(R"({"name":"orders:42","verb":"release","owner":"b","request":"101",)"
                          R"("stream":")" +
                          stream.name + "\"}")),
            "released");
  EXPECT_EQ(outcome(wait("103")), "queued");
  EXPECT_EQ(look("/v1/store/stream").code(), "limit_reached");
}

TEST_F(StoreApi, a_page_of_nothing_or_of_everything_is_refused_and_ends_no_server) {
  start();
  for (int lock = 0; lock < 300; ++lock) post(fmt::format("/v1/locks/n{}/acquire", lock));
  for (const char* limit : {"0", "1001", "4294967295"}) {
    const auto refused = look(fmt::format("/v1/store/list?limit={}", limit));
    EXPECT_EQ(refused.status, 400) << refused.body;
    EXPECT_EQ(refused.code(), "bad_input");
  }
}

TEST_F(StoreApi, a_list_names_no_lock_beyond_a_tokens_prefixes_in_its_cursor) {
  const test::TemporaryFolder folder;
  options.token_file = (folder.path() / "tokens").string();
  const auto add = [&](const std::string& name, std::vector<std::string> prefixes) {
    const auto added = add_token(options.token_file, {.name = name,
                                                      .verbs = {Verb::lock},
                                                      .prefixes = std::move(prefixes),
                                                      .secret_hash = hash_of("hf_" + name)});
    ASSERT_TRUE(added) << added.error().message;
  };
  add("all", {});
  add("orders", {"orders:"});
  start("file:" + (folder.path() / "store").string());
  for (const char* name : {"customers:1", "customers:2", "orders:1", "orders:2", "payroll:1"}) {
    ASSERT_EQ(call({.method = "POST",
                    .path = fmt::format("/v1/locks/{}/acquire", name),
                    .headers = {{"Authorization", "Bearer hf_all"}}})
                  .status,
              200);
  }
  std::string next;
  std::size_t seen = 0;
  do {
    const auto page = call(
        {.method = "GET",
         .path = "/v1/store/list?limit=1&cursor=" + next,
         .headers = {{"Authorization", "Bearer hf_orders"}, {"Holdfast-Store-Protocol", "1"}}});
    ASSERT_EQ(page.status, 200) << page.body;
    EXPECT_EQ(page.body.find("customers"), std::string::npos) << page.body;
    EXPECT_EQ(page.body.find("payroll"), std::string::npos) << page.body;
    seen += page.json().at("locks").as_array().size();
    next = page.text("next");
  } while (!next.empty() && seen < 10);
  EXPECT_EQ(seen, 2U);
}

TEST_F(StoreApi, a_store_is_listed_with_everything_that_its_views_have) {
  start();
  apply(acquire("anna", R"(,"metadata":{"note":"n","process":{"host":"h","pid":7}})"));
  const auto page = look("/v1/store/list?prefix=ord&limit=10");
  ASSERT_EQ(page.status, 200) << page.body;
  EXPECT_NE(page.body.find(R"("name":"orders:42")"), std::string::npos) << page.body;
  EXPECT_NE(page.body.find(R"("pid":7)"), std::string::npos) << page.body;
  EXPECT_EQ(page.body.find("anna"), std::string::npos) << "an owner is never shown";
  EXPECT_EQ(look("/v1/store/history?name=orders:42").code(), "unsupported");
  EXPECT_EQ(look("/v1/store/diagnose").status, 200);
}

}  // namespace
}  // namespace holdfast::server
