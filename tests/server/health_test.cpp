// SPDX-License-Identifier: Apache-2.0
#include "runtime/spawn.hpp"
#include "server/auth/secret.hpp"
#include "server/auth/token_edit.hpp"
#include "server/store_probe.hpp"
#include "server_fixture.hpp"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <thread>

namespace holdfast::server {
namespace {

using namespace std::chrono_literals;

class HealthTest : public ServerTest {
 protected:
  void SetUp() override {
    options.patterns.min_duration = 1ms;
    options.patterns.max_duration = 2ms;
  }
};

TEST_F(HealthTest, answers_as_the_guide_and_tells_of_the_store) {
  start();
  const auto answer = get("/health");
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(answer.text("status"), "ok");
  EXPECT_EQ(answer.text("service"), "distributed-lock");
  const auto all = answer.json().as_object();
  const auto& patterns = all.at("implementations").as_object();
  EXPECT_EQ(patterns.size(), 7U);
  EXPECT_EQ(boost::json::serialize(patterns.at("simpleMutex")),
            R"({"endpoint":"/api/locks/simple/:resourceId","type":"Single-instance fail-fast"})");
  EXPECT_EQ(boost::json::serialize(patterns.at("redlock")),
            R"({"endpoint":"/api/locks/redlock/:resourceId","type":"Multi-instance consensus"})");
  EXPECT_EQ(all.at("store").at("status"), "ok");
  EXPECT_TRUE(all.at("store").at("latency_ms").is_number());
  EXPECT_EQ(boost::json::serialize(all.at("redlock")), R"({"demo":true,"members":5})");
  EXPECT_FALSE(answer.text("version").empty());
  EXPECT_FALSE(all.at("draining").as_bool());
}

TEST_F(HealthTest, says_when_redlock_is_more_than_a_demo) {
  options.patterns.redlock_store = "memory:h-a,memory:h-b,memory:h-c";
  start();
  EXPECT_NE(get("/health").body.find(R"("redlock":{"demo":false,"members":3})"), std::string::npos);
}

TEST_F(HealthTest, tells_little_to_those_without_a_token) {
  const test::TemporaryFolder folder;
  const std::string token = "a-token-that-is-long-enough-for-this";
  options.token_file = (folder.path() / "tokens").string();
  const auto added = add_token(options.token_file, {.name = "ops",
                                                    .verbs = {Verb::lock},
                                                    .prefixes = {"lock:simple:mine"},
                                                    .secret_hash = hash_of(token)});
  ASSERT_TRUE(added) << added.error().message;
  start();
  const auto little = get("/health");
  EXPECT_EQ(little.status, 200);
  EXPECT_EQ(little.body, R"({"status":"ok","service":"distributed-lock"})");
  const auto with = [&](std::string method, std::string path) {
    return call({.method = std::move(method),
                 .path = std::move(path),
                 .headers = {{"Authorization", "Bearer " + token}}});
  };
  EXPECT_NE(with("GET", "/health").body.find("implementations"), std::string::npos);
  EXPECT_EQ(post("/api/locks/simple/mine", R"({"durationMs":0})").status, 401);
  EXPECT_EQ(with("POST", "/api/locks/simple/mine").status, 200);
  const auto other = with("POST", "/api/locks/simple/other");
  EXPECT_EQ(other.status, 403);
  EXPECT_EQ(other.text("error"), "Forbidden");
}

TEST_F(HealthTest, other_paths_answer_404_as_the_guide) {
  start();
  const auto answer = get("/nothing/here");
  EXPECT_EQ(answer.status, 404);
  EXPECT_EQ(answer.text("error"), "Not Found");
}

TEST_F(HealthTest, has_no_other_method) {
  start();
  EXPECT_EQ(post("/health").status, 405);
}

// Counts what it is asked, and answers when it is told to, or not at all.
class SlowStore final : public store::Store {
 public:
  explicit SlowStore(std::shared_ptr<runtime::Runtime> runtime) : runtime_(std::move(runtime)) {}

  Task<Result<store::Reply>> apply(store::Request request) override {
    ++asked;
    const bool answers = is_up;
    runtime::Event nobody(runtime_);
    co_await nobody.wait_until(answers ? runtime_->now() + 50ms : request.deadline);
    if (!answers) co_return fail(Errc::unavailable, "slow: no answer");
    co_return store::Reply{.at = {}, .outcome = model::LockOutcome{model::Seen{}}};
  }
  Result<std::unique_ptr<store::Listening>> listen(const LockName&, const OwnerId&,
                                                   model::RequestId) override {
    return fail(Errc::unavailable, "slow");
  }
  Task<Result<LockPage>> list(store::ListRequest) override {
    return Task<Result<LockPage>>(fail(Errc::unavailable, "slow"));
  }
  Result<void> supports(const model::LockSpec&) const override { return {}; }
  store::Capabilities capabilities() const override { return {}; }
  std::string describe() const override { return "slow:"; }

  std::atomic<int> asked{0};
  std::atomic<bool> is_up{true};

 private:
  const std::shared_ptr<runtime::Runtime> runtime_;
};

class StoreProbeTest : public testing::Test {
 protected:
  std::shared_ptr<runtime::Runtime> runtime = runtime::shared_runtime();
  std::shared_ptr<SlowStore> store = std::make_shared<SlowStore>(runtime);
  StoreProbe probe{client::make_core(store, runtime)};
};

TEST_F(StoreProbeTest, asks_once_for_many_who_ask_at_the_same_time) {
  std::atomic<int> good{0};
  const auto began = std::chrono::steady_clock::now();
  std::vector<std::jthread> askers;
  for (int each = 0; each < 8; ++each) {
    askers.emplace_back([&] {
      for (int round = 0; round < 5; ++round) good += runtime::run_blocking(probe.look()) ? 1 : 0;
    });
  }
  askers.clear();
  EXPECT_EQ(good, 40);
  const auto took = std::chrono::steady_clock::now() - began;
  EXPECT_LE(store->asked, 2 + took / 100ms) << "at most every 100 ms";
}

TEST_F(StoreProbeTest, tells_of_a_store_that_does_not_answer_and_of_its_return) {
  store->is_up = false;
  const auto began = std::chrono::steady_clock::now();
  EXPECT_FALSE(runtime::run_blocking(probe.look()));
  EXPECT_LT(std::chrono::steady_clock::now() - began, test::at_most(1s));
  store->is_up = true;
  EXPECT_TRUE(test::eventually([&] { return runtime::run_blocking(probe.look()).has_value(); }));
}

TEST_F(StoreProbeTest, a_server_whose_store_is_gone_answers_503) {
  ServerOptions options;
  options.listen = {"127.0.0.1:0"};
  auto server = Server::start(options, client::make_core(store, runtime));
  ASSERT_TRUE(server) << server.error().message;
  store->is_up = false;
  HttpConnection connection((*server)->addresses().front());
  connection.send("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const auto answer = connection.receive();
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.text("status"), "unavailable");
  EXPECT_NE(answer.body.find(R"("store":{"url":"slow:","status":"unavailable")"), std::string::npos)
      << answer.body;
}

}  // namespace
}  // namespace holdfast::server
