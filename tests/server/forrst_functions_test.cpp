// SPDX-License-Identifier: Apache-2.0
//
// Functions of the configuration, called through a server: by commands and by upstreams.
#include "forrst_fixture.hpp"
#include "net/raw_server.hpp"
#include "support/program.hpp"

#include <future>
#include <mutex>

namespace holdfast::server {
namespace {

using namespace std::chrono_literals;
using test::eventually;
using test::RawPeer;
using test::RawServer;

std::string says(int status, std::string_view body) {
  return fmt::format("HTTP/1.1 {} X\r\nContent-Length: {}\r\n\r\n{}", status, body.size(), body);
}

class ForrstFunctions : public ForrstTest {
 protected:
  // A function "up.stream" that is answered so.
  ForrstFunction& offer_upstream(RawServer::Script answer) {
    upstream.emplace(std::move(answer));
    auto& function = offer("up.stream");
    function.upstream = fmt::format("http://127.0.0.1:{}/work?from=forrst", upstream->port());
    return function;
  }
  ForrstFunction& offer_answers(std::vector<std::string> answers) {
    return offer_upstream([this, answers = std::move(answers)](RawPeer& peer, int) {
      while (true) {
        auto request = peer.request();
        if (request.empty()) return;
        const std::lock_guard lock(mutex);
        last_request = std::move(request);
        peer.say(answers[std::min(asked++, answers.size() - 1)]);
      }
    });
  }
  std::string request() {
    const std::lock_guard lock(mutex);
    return last_request;
  }
  // Sends the call and leaves once `begun()`.
  template <typename Begun>
  void call_and_leave(const std::string& body, Begun begun) {
    HttpConnection client(address);
    ASSERT_TRUE(client.send(
        test::request_text({.method = "POST", .path = "/forrst", .body = body}, address)));
    ASSERT_TRUE(eventually(begun));
    client.close();
  }

  std::mutex mutex;
  std::string last_request;  // guarded by mutex
  std::size_t asked = 0;     // guarded by mutex
  std::optional<RawServer> upstream;
};

TEST_F(ForrstFunctions, a_command_runs_under_the_lock_and_the_lock_is_free_afterwards) {
  offer_command("work.do", {script("work", "echo \"\\\"$HOLDFAST_NAME $HOLDFAST_FENCE\\\"\"")});
  start();
  const auto answer = invoke("work.do", {}, lock_extension("user:1"));
  ASSERT_EQ(answer.status, 200) << answer.body;
  const std::string result(answer.json().at("result").as_string());
  EXPECT_TRUE(result.starts_with("lock:work.do:user:1 ")) << result;
  EXPECT_GT(std::stoull("0" + result.substr(result.rfind(' ') + 1)), 0U);
  EXPECT_FALSE(is_locked("lock:work.do:user:1"));
}

TEST_F(ForrstFunctions, arguments_are_checked_before_anything_runs) {
  auto& function = offer_command("work.do", {script("work", "echo x > " + file("ran"))});
  function.about.arguments = {
      {.name = "amount", .type = forrst::Rule::Type::integer, .is_required = true}};
  start();
  const auto answer = invoke("work.do", {{"amount", "seven"}});
  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(first_code(answer.json()), "INVALID_ARGUMENTS");
  EXPECT_FALSE(std::filesystem::exists(file("ran")));
}

TEST_F(ForrstFunctions, fifty_commands_at_once_have_eight_threads) {
  options.forrst.command_threads = 8;
  // Each counts those that run beside it.
  offer_command("work.do", {script("work", fmt::format("mkdir {0}/$$; ls {0} | wc -l; sleep 0.05; "
                                                       "rmdir {0}/$$",
                                                       file("running")))});
  std::filesystem::create_directory(file("running"));
  start();
  std::vector<std::future<HttpAnswer>> answers;
  for (int each = 0; each < 50; ++each) {
    answers.push_back(std::async(std::launch::async, [&] { return invoke("work.do"); }));
  }
  std::int64_t most = 0;
  for (auto& each : answers) {
    const auto answer = each.get();
    ASSERT_EQ(answer.status, 200) << answer.body;
    most = std::max(most, answer.json().at("result").as_int64());
  }
  EXPECT_LE(most, 8);
  EXPECT_GE(most, 2);
}

TEST_F(ForrstFunctions, a_command_that_takes_too_long_is_ended_and_gives_its_lock_back) {
  offer_command("work.do",
                {script("work", fmt::format("echo $$ > {}; exec sleep 1000", file("pid")))})
      .about.timeout = test::stretched(500ms);
  start();
  const auto answer = invoke("work.do", {}, lock_extension("user:1"));
  EXPECT_EQ(answer.status, 504) << answer.body;
  EXPECT_EQ(first_code(answer.json()), "DEADLINE_EXCEEDED");
  EXPECT_FALSE(test::is_running(std::stoi("0" + written("pid"))));
  EXPECT_FALSE(is_locked("lock:work.do:user:1"));
}

TEST_F(ForrstFunctions, a_client_that_leaves_ends_its_command_and_its_lock) {
  offer_command("work.do",
                {script("work", fmt::format("echo $$ > {}; exec sleep 1000", file("pid")))})
      .about.timeout = 1h;
  start();
  call_and_leave(forrst_request("work.do", {}, lock_extension("user:1")),
                 [&] { return !written("pid").empty(); });
  EXPECT_TRUE(eventually([&] { return !is_locked("lock:work.do:user:1"); }));
  EXPECT_TRUE(eventually([&] { return !test::is_running(std::stoi("0" + written("pid"))); }));
}

TEST_F(ForrstFunctions, a_client_that_leaves_ends_the_call_of_its_upstream_and_its_lock) {
  std::promise<void> begun;
  std::promise<void> closed;
  offer_upstream([&](RawPeer& peer, int) {
    peer.request();
    begun.set_value();
    peer.request();
    closed.set_value();
  }).about.timeout = 1h;
  start();
  call_and_leave(forrst_request("up.stream", {}, lock_extension("user:1")),
                 [&, future = begun.get_future().share()] {
                   return future.wait_for(0s) == std::future_status::ready;
                 });
  EXPECT_EQ(closed.get_future().wait_for(test::at_most(30s)), std::future_status::ready);
  EXPECT_TRUE(eventually([&] { return !is_locked("lock:up.stream:user:1"); }));
}

TEST_F(ForrstFunctions, an_upstream_is_told_the_arguments_the_fence_and_the_request) {
  offer_answers({says(200, R"({"charged":[1,"x"]})")});
  start();
  const auto answer = invoke("up.stream", {{"amount", 7}}, lock_extension("user:1"));
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(boost::json::serialize(answer.json().at("result")), R"({"charged":[1,"x"]})");
  const auto told = request();
  EXPECT_TRUE(told.starts_with("POST /work?from=forrst HTTP/1.1\r\n")) << told;
  for (const auto* header :
       {"Holdfast-Fence: ", "Holdfast-Resource: lock:up.stream:user:1\r\n",
        "X-Forrst-Request-Id: req_1\r\n", "Content-Type: application/json\r\n"}) {
    EXPECT_NE(told.find(header), std::string::npos) << header << told;
  }
  EXPECT_EQ(told.find("Idempotency-Key"), std::string::npos);
  EXPECT_TRUE(told.ends_with("\r\n\r\n{\"amount\":7}")) << told;
}

// Not as the caller wrote it: another caller's key of the same words is another key.
TEST_F(ForrstFunctions, an_upstream_is_told_a_key_for_each_idempotency_key) {
  offer_answers({says(200, "1")});
  start();
  const auto told_for = [&](std::string_view key) {
    const auto extension = fmt::format(
        R"([{{"urn":"urn:cline:forrst:ext:idempotency","options":{{"key":"{}"}}}}])", key);
    const auto answer = invoke("up.stream", {}, extension);
    EXPECT_EQ(answer.status, 200) << answer.body;
    const auto told = request();
    EXPECT_EQ(told.find("Holdfast-Fence"), std::string::npos);
    EXPECT_EQ(told.find("Holdfast-Taken-Over"), std::string::npos);
    constexpr std::string_view name = "Idempotency-Key: ";
    const auto at = told.find(name);
    EXPECT_NE(at, std::string::npos) << told;
    return told.substr(at, told.find("\r\n", at) - at);
  };
  const auto first = told_for("order-9");
  EXPECT_EQ(first.size(), 17U + 64U) << first;
  EXPECT_NE(told_for("order-10"), first);
}

TEST_F(ForrstFunctions, an_upstreams_success_is_its_json_or_null) {
  const std::string large = "\"" + std::string(3'000'000, 'x') + "\"";
  offer_answers({"HTTP/1.1 204 No Content\r\n\r\n", says(201, ""), says(200, " 5 "),
                 says(200, large), says(200, "<html>")});
  start();
  EXPECT_TRUE(invoke("up.stream").json().at("result").is_null());
  EXPECT_TRUE(invoke("up.stream").json().at("result").is_null());
  EXPECT_EQ(invoke("up.stream").json().at("result").as_int64(), 5);
  EXPECT_EQ(invoke("up.stream").json().at("result").as_string().size(), 3'000'000U);
  const auto broken = invoke("up.stream");
  EXPECT_EQ(broken.status, 502);
  EXPECT_EQ(first_code(broken.json()), "DEPENDENCY_ERROR");
}

TEST_F(ForrstFunctions, an_upstreams_refusal_is_its_own_or_that_of_its_status) {
  const std::vector<std::pair<int, std::string>> cases{{400, "INVALID_ARGUMENTS"},
                                                       {422, "INVALID_ARGUMENTS"},
                                                       {404, "NOT_FOUND"},
                                                       {409, "CONFLICT"},
                                                       {410, "GONE"},
                                                       {429, "RATE_LIMITED"},
                                                       {503, "DEPENDENCY_ERROR"},
                                                       {504, "DEADLINE_EXCEEDED"},
                                                       {500, "DEPENDENCY_ERROR"},
                                                       {302, "DEPENDENCY_ERROR"},
                                                       {401, "DEPENDENCY_ERROR"}};
  std::vector<std::string> answers;
  for (const auto& each : cases) answers.push_back(says(each.first, "{\"code\":\"no\"}"));
  answers.push_back(
      says(418, R"({"code":"OUT_OF_STOCK","message":"none left","details":{"left":0}})"));
  offer_answers(answers);
  start();
  for (const auto& [status, code] : cases) {
    const auto answer = invoke("up.stream");
    EXPECT_EQ(first_code(answer.json()), code) << status;
    EXPECT_EQ(answer.json().at("errors").at(0).at("details").at("status").as_int64(), status);
  }
  const auto own = invoke("up.stream");
  EXPECT_EQ(own.status, 400);
  EXPECT_EQ(boost::json::serialize(own.json().at("errors").at(0)),
            R"({"code":"OUT_OF_STOCK","message":"none left","details":{"left":0}})");
}

TEST_F(ForrstFunctions, an_upstream_that_cannot_be_reached_is_unavailable) {
  offer("up.stream").upstream = "http://127.0.0.1:1/";
  start();
  const auto answer = invoke("up.stream");
  EXPECT_EQ(answer.status, 503) << answer.body;
  EXPECT_EQ(first_code(answer.json()), "UNAVAILABLE");
  EXPECT_EQ(answer.body.find("127.0.0.1"), std::string::npos) << answer.body;
}

TEST_F(ForrstFunctions, an_upstream_that_breaks_off_may_have_done_it) {
  offer_upstream([](RawPeer& peer, int) { peer.request(); });
  start();
  const auto answer = invoke("up.stream");
  EXPECT_EQ(answer.status, 502) << answer.body;
  EXPECT_EQ(first_code(answer.json()), "DEPENDENCY_ERROR");
}

TEST_F(ForrstFunctions, an_upstream_that_takes_too_long_is_a_deadline) {
  offer_upstream([](RawPeer& peer, int) {
    peer.request();
    peer.request();
  }).about.timeout = test::stretched(200ms);
  start();
  const auto answer = invoke("up.stream");
  EXPECT_EQ(answer.status, 504) << answer.body;
  EXPECT_EQ(first_code(answer.json()), "DEADLINE_EXCEEDED");
}

TEST_F(ForrstFunctions, locks_may_be_in_a_store_of_their_own) {
  options.forrst.store = "memory:forrst-elsewhere";
  offer_command("work.do", {script("work", "echo 1")});
  start();
  const auto answer =
      invoke("work.do", {}, lock_extension("user:1", R"(,"auto_release":false,"owner":"me")"));
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_TRUE(is_locked("lock:work.do:user:1"));
  EXPECT_EQ(get("/v1/locks/lock:work.do:user:1").status, 404);
  EXPECT_EQ(invoke(lock_release, {{"key", "lock:work.do:user:1"}, {"owner", "me"}}).status, 200);
}

TEST_F(ForrstFunctions, what_happens_to_locks_is_in_the_audit_trail_and_the_metrics) {
  offer_command("work.do", {script("work", "exit 1")});
  start();
  EXPECT_EQ(invoke("work.do", {}, lock_extension("user:1")).status, 500);
  EXPECT_EQ(invoke("no.such").status, 404);
  EXPECT_EQ(invoke(ping).status, 200);
  const auto trail = get("/v1/audit").body;
  EXPECT_NE(trail.find(R"("acquired")"), std::string::npos) << trail;
  EXPECT_NE(trail.find(R"("released")"), std::string::npos) << trail;
  EXPECT_NE(trail.find("lock:work.do:user:1"), std::string::npos) << trail;
  const auto metrics = get("/metrics").body;
  for (const auto* line : {"holdfast_forrst_calls_total{code=\"ok\"} 1\n",
                           "holdfast_forrst_calls_total{code=\"INTERNAL_ERROR\"} 1\n",
                           "holdfast_forrst_calls_total{code=\"FUNCTION_NOT_FOUND\"} 1\n"}) {
    EXPECT_NE(metrics.find(line), std::string::npos) << line;
  }
  EXPECT_EQ(metrics.find("code=\"CONFLICT\""), std::string::npos);
}

TEST_F(ForrstFunctions, a_server_that_stops_lets_functions_finish) {
  offer_command("work.do",
                {script("work", fmt::format("echo $$ > {}; sleep 0.5; echo 7", file("pid")))});
  start();
  auto calling = std::async(std::launch::async, [&] { return invoke("work.do"); });
  ASSERT_GT(std::stoi("0" + written("pid")), 0);
  server->stop();
  const auto answer = calling.get();
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(answer.json().at("result").as_int64(), 7);
}

TEST_F(ForrstFunctions, a_server_that_stops_ends_the_wait_for_a_lock) {
  offer_command("work.do", {"cat"});
  start();
  ASSERT_EQ(post("/v1/locks/lock:work.do:k/acquire", R"({"owner":"somebody"})").status, 200);
  auto calling = std::async(std::launch::async, [&] {
    return invoke("work.do", {}, lock_extension("k", R"(,"block":{"value":1,"unit":"hour"})"));
  });
  ASSERT_TRUE(eventually(
      [&] { return get("/v1/locks/lock:work.do:k").json().at("waiters").as_array().size() == 1; }));
  server->stop();
  const auto answer = calling.get();
  EXPECT_EQ(answer.status, 503) << answer.body;
  EXPECT_EQ(first_code(answer.json()), "UNAVAILABLE");
}

TEST_F(ForrstFunctions, a_server_that_stops_ends_commands_and_leaves_no_process) {
  options.drain = 100ms;
  offer_command("work.do", {script("work", fmt::format("trap '' TERM; echo $$ > {}; "
                                                       "while :; do sleep 0.1; done",
                                                       file("pid")))})
      .about.timeout = 1h;
  start();
  auto calling = std::async(std::launch::async, [&] { return invoke("work.do"); });
  const auto pid = std::stoi("0" + written("pid"));
  ASSERT_GT(pid, 0);
  server->stop();
  EXPECT_FALSE(test::is_running(pid));
  calling.get();
}

}  // namespace
}  // namespace holdfast::server
