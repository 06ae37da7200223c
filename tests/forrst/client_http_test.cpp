// SPDX-License-Identifier: Apache-2.0
//
// The client over HTTP, against a server that says what the test wants it to say.
#include <holdfast/forrst/client.hpp>
#include <holdfast/forrst/service.hpp>

#include "frame_server.hpp"
#include "net/raw_server.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <future>
#include <latch>

namespace holdfast::forrst {
namespace {

using namespace std::chrono_literals;
using test::code_of;
using test::RawPeer;
using test::RawServer;
using test::reply_to;

std::string url_of(const RawServer& server) {
  return fmt::format("http://127.0.0.1:{}/forrst?tenant=a%20b", server.port());
}

CallOptions call_of(Duration timeout = 1min) { return {.function = "f", .timeout = timeout}; }

std::string body_of(const std::string& request) {
  const auto end = request.find("\r\n\r\n");
  return end == std::string::npos ? "{\"id\":null}" : request.substr(end + 4);
}

std::string with_status(std::string_view status, std::string_view body,
                        std::string_view type = "application/json") {
  return fmt::format("HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n\r\n{}", status,
                     type, body.size(), body);
}

// Answers every request with a result of the protocol, or whatever else `rest` says.
RawServer::Script always(std::string status, std::string rest) {
  return [=](RawPeer& peer, int) {
    for (auto request = peer.request(); !request.empty(); request = peer.request()) {
      peer.say(with_status(status, reply_to(body_of(request), rest)));
    }
  };
}

TEST(ForrstClientHttp, a_call_is_a_post_with_the_token_to_the_path_of_the_url) {
  std::string seen;
  const RawServer server([&](RawPeer& peer, int) {
    seen = peer.request();
    peer.say(with_status("200 OK", reply_to(body_of(seen), R"("result":7)")));
  });
  const auto client = Client::open(url_of(server), {.token = "secret"});
  ASSERT_TRUE(client) << client.error().message;
  const auto reply = client->call(call_of());
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->result, 7);
  const auto body = R"({"protocol":{"name":"forrst","version":"0.1.0"},"id":")" + reply->id +
                    R"(","call":{"function":"f","arguments":{}}})";
  EXPECT_EQ(seen, fmt::format("POST /forrst?tenant=a%20b HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n"
                              "Authorization: Bearer secret\r\nContent-Type: application/json\r\n"
                              "Accept: application/json\r\nContent-Length: {}\r\n\r\n{}",
                              server.port(), body.size(), body));
}

TEST(ForrstClientHttp, the_body_counts_and_not_the_status) {
  const RawServer locked(always("423 Locked", test::failure_with("LOCK_ACQUISITION_FAILED")));
  const auto refused = Client::open(url_of(locked))->call(call_of());
  ASSERT_TRUE(refused) << refused.error().message;
  EXPECT_TRUE(refused->has("LOCK_ACQUISITION_FAILED"));
  const RawServer fine(always("500 Oops", R"("result":1)"));
  const auto reply = Client::open(url_of(fine))->call(call_of());
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_TRUE(reply->ok());
}

TEST(ForrstClientHttp, the_refusal_of_a_proxy_did_nothing_and_its_failure_leaves_it_open) {
  struct Said {
    std::string_view status;
    Errc code;
  };
  for (const auto& each :
       {Said{"401 Unauthorized", Errc::unavailable}, Said{"404 Not Found", Errc::unavailable},
        Said{"301 Moved Permanently", Errc::unavailable}, Said{"200 OK", Errc::outcome_unknown},
        Said{"502 Bad Gateway", Errc::outcome_unknown}}) {
    const RawServer server([&](RawPeer& peer, int) {
      peer.request();
      peer.say(with_status(each.status, R"({"title":"no"})", "application/problem+json"));
    });
    const auto reply = Client::open(url_of(server))->call(call_of());
    ASSERT_EQ(code_of(reply), each.code) << each.status;
    EXPECT_NE(reply.error().message.find(each.status.substr(0, 3)), std::string::npos)
        << reply.error().message;
  }
}

TEST(ForrstClientHttp, nobody_there_means_nothing_was_sent) {
  std::string url;
  {
    const RawServer server([](RawPeer&, int) {});
    url = url_of(server);
  }
  EXPECT_EQ(code_of(Client::open(url)->call(call_of())), Errc::unavailable);
}

TEST(ForrstClientHttp, an_answer_that_never_comes_whole_leaves_open_what_happened) {
  const std::string_view ends[] = {"", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{",
                                   "no HTTP at all\r\n\r\n"};
  for (const auto end : ends) {
    const RawServer server([&](RawPeer& peer, int) {
      peer.request();
      peer.say(end);
    });
    EXPECT_EQ(code_of(Client::open(url_of(server))->call(call_of())), Errc::outcome_unknown) << end;
  }
}

TEST(ForrstClientHttp, an_answer_that_is_longer_than_allowed_is_not_read) {
  const RawServer server([](RawPeer& peer, int) {
    peer.request();
    peer.say(fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", max_result_bytes + 1));
    peer.request();
  });
  EXPECT_EQ(code_of(Client::open(url_of(server))->call(call_of())), Errc::outcome_unknown);
}

TEST(ForrstClientHttp, no_answer_in_time_leaves_open_what_happened) {
  const RawServer server([](RawPeer& peer, int) {
    while (!peer.request().empty()) {
    }
  });
  EXPECT_EQ(code_of(Client::open(url_of(server))->call(call_of(1s))), Errc::outcome_unknown);
}

TEST(ForrstClientHttp, a_stop_ends_the_wait_for_an_answer) {
  std::promise<void> heard;
  const RawServer server([&](RawPeer& peer, int) {
    peer.request();
    heard.set_value();
    peer.request();
  });
  const auto client = Client::open(url_of(server));
  std::stop_source stop;
  auto calling =
      std::async(std::launch::async, [&] { return client->call(call_of(1h), stop.get_token()); });
  heard.get_future().wait();
  stop.request_stop();
  EXPECT_EQ(code_of(calling.get()), Errc::outcome_unknown);
  EXPECT_EQ(code_of(client->call(call_of(), stop.get_token())), Errc::cancelled);
}

TEST(ForrstClientHttp, ten_callers_at_once_get_the_answers_to_their_own_questions) {
  const RawServer server([](RawPeer& peer, int) {
    for (auto request = peer.request(); !request.empty(); request = peer.request()) {
      const auto body = body_of(request);
      const auto asked = boost::json::parse(body).at("call").at("arguments").at("n");
      peer.say(
          with_status("200 OK", reply_to(body, "\"result\":" + boost::json::serialize(asked))));
    }
  });
  const auto client = Client::open(url_of(server));
  std::vector<std::future<int>> callers;
  for (int who = 0; who < 10; ++who) {
    callers.push_back(std::async(std::launch::async, [&, who] {
      int right = 0;
      for (int i = 0; i < 20; ++i) {
        auto options = call_of();
        options.arguments.emplace("n", who * 1000 + i);
        const auto reply = client->call(options);
        if (reply && reply->result == who * 1000 + i) ++right;
      }
      return right;
    }));
  }
  for (auto& each : callers) EXPECT_EQ(each.get(), 20);
}

// With fewer connections than callers, those who wait for a lock would keep its holder from
// giving it back.
TEST(ForrstClientHttp, callers_who_wait_never_keep_another_from_being_heard) {
  constexpr int waiting = 12;
  std::latch all_there(waiting + 1);
  const RawServer server([&](RawPeer& peer, int) {
    const auto request = peer.request();
    all_there.arrive_and_wait();
    peer.say(with_status("200 OK", reply_to(body_of(request), R"("result":1)")));
  });
  const auto client = Client::open(url_of(server));
  std::vector<std::future<bool>> callers;
  for (int i = 0; i <= waiting; ++i) {
    callers.push_back(
        std::async(std::launch::async, [&] { return client->call(call_of()).has_value(); }));
  }
  for (auto& each : callers) EXPECT_TRUE(each.get());
}

TEST(ForrstClientHttp, a_forked_child_is_told_to_open_a_client_of_its_own) {
  const RawServer server(always("200 OK", R"("result":1)"));
  const auto client = Client::open(url_of(server));
  ASSERT_TRUE(client->call(call_of()));
  const auto child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto reply = client->call(call_of());
    const bool is_told = !reply && reply.error().code == Errc::unavailable &&
                         reply.error().message.find("fork()") != std::string::npos;
    ::_exit(is_told ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(client->call(call_of()));
}

TEST(ForrstClientOpen, what_is_no_place_to_call_is_refused) {
  const test::TemporaryFolder folder;
  struct Bad {
    std::string url;
    ClientOptions options{};
    std::string_view complaint;
  };
  const std::vector<Bad> bad{
      {.url = "", .complaint = "URL"},
      {.url = "http://", .complaint = "http"},
      {.url = "ftp://host/x", .complaint = "must be http://"},
      {.url = "http://a,b/x", .complaint = "must be http://"},
      {.url = "http://host:99999/x", .complaint = "port"},
      {.url = "http://me:secret@host/x", .complaint = "see token"},
      {.url = "unix:", .complaint = "absolute path"},
      {.url = "unix:relative", .complaint = "absolute path"},
      {.url = "unix:/" + std::string(200, 'x'), .complaint = "at most 107 bytes"},
      {.url = "unix:/x", .options = {.token = "t"}, .complaint = "token: "},
      {.url = "unix:/x", .options = {.ca_file = "/x"}, .complaint = "ca_file: "},
      {.url = "http://host/x", .options = {.token = "two words"}, .complaint = "token: "},
      {.url = "http://host/x", .options = {.token = "a\r\nX-Evil: 1"}, .complaint = "token: "},
      {.url = "http://host/x", .options = {.ca_file = "/x"}, .complaint = "ca_file: "},
      {.url = "https://host/x",
       .options = {.ca_file = (folder.path() / "none").string()},
       .complaint = "ca_file: "},
  };
  for (const auto& each : bad) {
    const auto client = Client::open(each.url, each.options);
    ASSERT_FALSE(client) << each.url;
    EXPECT_EQ(client.error().code, Errc::bad_input);
    EXPECT_NE(client.error().message.find(each.complaint), std::string::npos)
        << client.error().message;
    EXPECT_EQ(client.error().message.find("secret"), std::string::npos);
  }
}

}  // namespace
}  // namespace holdfast::forrst
