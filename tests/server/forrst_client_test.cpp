// SPDX-License-Identifier: Apache-2.0
//
// The library's client of Forrst against a real server, over each of its transports.
#include <holdfast/forrst/client.hpp>

#include "server/auth/secret.hpp"
#include "server_fixture.hpp"

#include <sys/stat.h>

#include <fstream>
#include <future>

namespace holdfast::server {
namespace {

using namespace std::chrono_literals;

constexpr auto ping = "urn:cline:forrst:ext:diagnostics:fn:ping";
constexpr auto refused_calls = "holdfast_forrst_calls_total{code=\"LOCK_ACQUISITION_FAILED\"}";
constexpr auto ping_key = "lock:urn:cline:forrst:ext:diagnostics:fn:ping:user:123";

forrst::CallOptions ping_under(forrst::LockOptions lock) {
  return {.function = ping, .lock = std::move(lock)};
}

bool is_locked(const forrst::Client& client) {
  const auto status = client.status(ping_key);
  EXPECT_TRUE(status && status->ok());
  return status && status->result.at("locked").as_bool();
}

// Takes, fails to take, renews, releases: what every transport must carry.
void use_a_lock(const forrst::Client& client) {
  const auto once = client.call(ping_under({.key = "user:123", .ttl = 30s}));
  ASSERT_TRUE(once) << once.error().message;
  ASSERT_TRUE(once->ok()) << once->faults.front().message;
  EXPECT_EQ(once->result.at("status"), "healthy");
  EXPECT_FALSE(is_locked(client)) << "it is released with the end of the function";

  const forrst::LockOptions kept{.key = "user:123", .ttl = 30s, .auto_release = false};
  const auto holder = client.call(ping_under(kept));
  ASSERT_TRUE(holder && holder->ok());
  const auto lock = holder->lock();
  ASSERT_TRUE(lock);
  EXPECT_TRUE(lock->acquired);
  EXPECT_GT(lock->fence, once->lock()->fence);
  EXPECT_TRUE(is_locked(client));

  const auto loser = client.call(ping_under(kept));
  ASSERT_TRUE(loser) << loser.error().message;
  EXPECT_TRUE(loser->has(forrst::codes::lock_acquisition_failed));
  EXPECT_FALSE(loser->lock()->acquired);

  EXPECT_TRUE(client.release(ping_key, "somebody else")->has("LOCK_OWNERSHIP_MISMATCH"));
  EXPECT_TRUE(client.renew(ping_key, lock->owner, 60s)->ok());
  EXPECT_TRUE(client.release(ping_key, lock->owner)->ok());
  EXPECT_FALSE(is_locked(client));
}

class ForrstClientTest : public ServerTest {
 protected:
  forrst::Client client(forrst::ClientOptions with = {}, std::string_view scheme = "http") const {
    const auto url = fmt::format("{}://{}/forrst", scheme, address);
    return *forrst::Client::open(url, std::move(with));
  }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

 private:
  test::TemporaryFolder folder_;
};

TEST_F(ForrstClientTest, uses_locks_over_http) {
  start();
  use_a_lock(client());
}

TEST_F(ForrstClientTest, uses_locks_over_a_socket) {
  options.forrst.socket = path("forrst.sock");
  start();
  use_a_lock(*forrst::Client::open("unix:" + options.forrst.socket));
}

TEST_F(ForrstClientTest, uses_locks_over_https_and_trusts_only_whom_it_is_told_to_trust) {
  const auto made = test::run({"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                               "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
                               "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout",
                               path("server.key"), "-out", path("server.pem")});
  ASSERT_EQ(made.code, 0) << made.err;
  options.tls.certificate = path("server.pem");
  options.tls.key = path("server.key");
  start();
  use_a_lock(client({.ca_file = path("server.pem")}, "https"));
  const auto stranger = client({}, "https").call({.function = ping});
  ASSERT_FALSE(stranger);
  EXPECT_EQ(stranger.error().code, Errc::unavailable) << stranger.error().message;
}

TEST_F(ForrstClientTest, is_let_in_by_its_token) {
  options.token_file = path("tokens");
  std::ofstream(options.token_file) << "boss " << to_hex(hash_of("boss-secret")) << " admin *\n"
                                    << "reader " << to_hex(hash_of("reader-secret")) << " read *\n";
  ASSERT_EQ(chmod(options.token_file.c_str(), 0600), 0);
  start();
  use_a_lock(client({.token = "boss-secret"}));
  const auto nobody = client().call({.function = ping});
  ASSERT_TRUE(nobody) << nobody.error().message;
  EXPECT_TRUE(nobody->has(forrst::codes::unauthorized));
  const auto reader =
      client({.token = "reader-secret"}).call(ping_under({.key = "user:123", .ttl = 30s}));
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_TRUE(reader->has(forrst::codes::forbidden));
}

TEST_F(ForrstClientTest, gets_a_lock_by_waiting_and_by_trying_again) {
  start();
  const auto one = client();
  const auto keep = [&] {
    const auto holder = one.call(
        ping_under({.key = "user:123", .ttl = 60s, .owner = "holder", .auto_release = false}));
    return holder && holder->ok();
  };
  ASSERT_TRUE(keep());
  auto waiting = std::async(std::launch::async, [&] {
    return one.call(ping_under({.key = "user:123", .ttl = 30s, .block = 60s}));
  });
  ASSERT_TRUE(has_waiters(ping_key));
  ASSERT_TRUE(one.release(ping_key, "holder")->ok());
  const auto waited = waiting.get();
  ASSERT_TRUE(waited) << waited.error().message;
  EXPECT_TRUE(waited->ok());

  ASSERT_TRUE(keep());
  auto again = ping_under({.key = "user:123", .ttl = 30s});
  again.backoff = forrst::Backoff{.attempts = 1'000'000, .first = 5ms, .most = 5ms};
  auto trying = std::async(std::launch::async, [&] { return one.call(again); });
  ASSERT_TRUE(test::eventually([&] { return get("/metrics").body.contains(refused_calls); }));
  ASSERT_TRUE(one.release(ping_key, "holder")->ok());
  const auto tried = trying.get();
  ASSERT_TRUE(tried) << tried.error().message;
  EXPECT_TRUE(tried->ok());
  EXPECT_GT(tried->attempts, 1U);
}

TEST_F(ForrstClientTest, a_stop_ends_the_wait_at_the_server_too) {
  start();
  const auto one = client();
  ASSERT_TRUE(one.call(
      ping_under({.key = "user:123", .ttl = 60s, .owner = "holder", .auto_release = false})));
  std::stop_source stop;
  auto waiting = std::async(std::launch::async, [&] {
    return one.call(ping_under({.key = "user:123", .ttl = 30s, .block = 60s}), stop.get_token());
  });
  ASSERT_TRUE(has_waiters(ping_key));
  stop.request_stop();
  const auto stopped = waiting.get();
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, Errc::outcome_unknown) << stopped.error().message;
  ASSERT_TRUE(one.release(ping_key, "holder")->ok());
  // Whoever went away is not in the way.
  const auto next = one.call(ping_under({.key = "user:123", .ttl = 30s, .block = 30s}));
  ASSERT_TRUE(next) << next.error().message;
  EXPECT_TRUE(next->ok());
}

}  // namespace
}  // namespace holdfast::server
