// SPDX-License-Identifier: Apache-2.0
//
// The client on a Unix socket, against a server that says what the test wants it to say.
#include <holdfast/forrst/client.hpp>
#include <holdfast/forrst/service.hpp>

#include "frame_server.hpp"
#include "support/timing.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <future>
#include <latch>
#include <set>

namespace holdfast::forrst {
namespace {

using namespace std::chrono_literals;
using test::always;
using test::code_of;
using test::FramePeer;
using test::FrameServer;
using test::reply_to;

Client client_of(const FrameServer& server) { return *Client::open(server.url()); }

CallOptions call_of(std::string function, Duration timeout = 1min) {
  return {.function = std::move(function), .timeout = timeout};
}

// More than a socket buffers.
CallOptions long_call(Duration timeout = 1min) {
  auto options = call_of("f", timeout);
  options.arguments.emplace("much", std::string(1'000'000, 'x'));
  return options;
}

TEST(ForrstClientSocket, a_call_is_a_frame_and_its_answer_is_one) {
  std::string seen;
  const FrameServer server([&](FramePeer& peer, int) {
    seen = peer.request();
    peer.answer(reply_to(seen, R"("result":{"id":7})"));
  });
  const auto reply = client_of(server).call(call_of("payments.charge"));
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->result, boost::json::value({{"id", 7}}));
  EXPECT_EQ(reply->attempts, 1U);
  EXPECT_EQ(seen, R"({"protocol":{"name":"forrst","version":"0.1.0"},"id":")" + reply->id +
                      R"(","call":{"function":"payments.charge","arguments":{}}})");
}

TEST(ForrstClientSocket, the_functions_of_locks_are_called_by_their_names) {
  std::vector<std::string> seen;
  const FrameServer server([&](FramePeer& peer, int) {
    for (auto request = peer.request(); !request.empty(); request = peer.request()) {
      seen.push_back(boost::json::serialize(boost::json::parse(request).at("call")));
      peer.answer(reply_to(request, R"("result":{})"));
    }
  });
  const auto client = client_of(server);
  EXPECT_TRUE(client.release("lock:a", "me"));
  EXPECT_TRUE(client.force_release("lock:a"));
  EXPECT_TRUE(client.status("lock:a"));
  EXPECT_TRUE(client.renew("lock:a", "me", 1min));
  EXPECT_EQ(code_of(client.renew("lock:a", "me", 1500ms)), Errc::bad_input);
  const auto call = [](std::string_view name, std::string_view arguments) {
    return fmt::format(R"({{"function":"urn:cline:forrst:ext:atomic-lock:fn:{}",)"
                       R"("version":"1.0.0","arguments":{}}})",
                       name, arguments);
  };
  const std::vector<std::string> wanted{
      call("release", R"({"key":"lock:a","owner":"me"})"),
      call("force-release", R"({"key":"lock:a"})"), call("status", R"({"key":"lock:a"})"),
      call("renew", R"({"key":"lock:a","owner":"me","ttl":{"value":60,"unit":"second"}})")};
  EXPECT_EQ(seen, wanted);
}

TEST(ForrstClientSocket, a_connection_is_used_again_and_copies_share_it) {
  const FrameServer server(always(R"("result":1)"));
  const auto client = client_of(server);
  const auto copy = client;
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(client.call(call_of("f")));
    ASSERT_TRUE(copy.call(call_of("f")));
  }
  EXPECT_EQ(server.connections(), 1);
}

TEST(ForrstClientSocket, a_connection_that_the_server_closed_meanwhile_is_replaced) {
  const FrameServer server([](FramePeer& peer, int) {
    peer.answer(reply_to(peer.request(), R"("result":1)"));  // and closes
  });
  const auto client = client_of(server);
  for (int i = 0; i < 20; ++i) {
    const auto reply = client.call(call_of("f"));
    // The close may come just after the frame was taken from us: then nobody read it.
    ASSERT_TRUE(reply) << i << ": " << reply.error().message;
  }
}

TEST(ForrstClientSocket, a_hundred_bytes_come_in_as_many_pieces) {
  const FrameServer server([](FramePeer& peer, int) {
    const auto json = reply_to(peer.request(), R"("result":"piece by piece")");
    const auto frame = test::length_of(json.size()) + json;
    for (const char each : frame) {
      peer.say({&each, 1});
      std::this_thread::yield();
    }
    peer.wait_for_the_end();
  });
  const auto reply = client_of(server).call(call_of("f"));
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->result, "piece by piece");
}

TEST(ForrstClientSocket, ten_callers_at_once_get_the_answers_to_their_own_questions) {
  const FrameServer server([](FramePeer& peer, int) {
    for (auto request = peer.request(); !request.empty(); request = peer.request()) {
      const auto asked = boost::json::parse(request).at("call").at("arguments").at("n");
      peer.answer(reply_to(request, "\"result\":" + boost::json::serialize(asked)));
    }
  });
  const auto client = client_of(server);
  std::vector<std::future<int>> callers;
  for (int who = 0; who < 10; ++who) {
    callers.push_back(std::async(std::launch::async, [&, who] {
      int right = 0;
      for (int i = 0; i < 50; ++i) {
        auto options = call_of("f");
        options.arguments.emplace("n", who * 1000 + i);
        const auto reply = client.call(options);
        if (reply && reply->result == who * 1000 + i) ++right;
      }
      return right;
    }));
  }
  for (auto& each : callers) EXPECT_EQ(each.get(), 50);
  EXPECT_LE(server.connections(), 500);
}

TEST(ForrstClientSocket, nobody_there_means_nothing_was_sent) {
  const test::TemporaryFolder folder;
  const auto client = Client::open("unix:" + (folder.path() / "none").string());
  const auto reply = client->call(call_of("f"));
  ASSERT_EQ(code_of(reply), Errc::unavailable);
  EXPECT_NE(reply.error().message.find("/none"), std::string::npos) << reply.error().message;
}

TEST(ForrstClientSocket, a_connection_that_ends_unread_means_that_nothing_happened) {
  const FrameServer server([](FramePeer&, int) {});
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(code_of(client_of(server).call(call_of("f"))), Errc::unavailable);
  }
}

TEST(ForrstClientSocket, a_connection_that_ends_after_the_request_leaves_open_what_happened) {
  const FrameServer server([](FramePeer& peer, int) { peer.request(); });
  EXPECT_EQ(code_of(client_of(server).call(call_of("f"))), Errc::outcome_unknown);
}

TEST(ForrstClientSocket, half_an_answer_leaves_open_what_happened) {
  const FrameServer server([](FramePeer& peer, int) {
    peer.request();
    peer.say(test::length_of(100) + "{");
  });
  EXPECT_EQ(code_of(client_of(server).call(call_of("f"))), Errc::outcome_unknown);
}

TEST(ForrstClientSocket, lengths_that_nobody_should_believe_are_refused) {
  for (const std::size_t size : {std::size_t{0}, max_result_bytes + 1, std::size_t{0xffffffff}}) {
    const FrameServer server([&](FramePeer& peer, int) {
      peer.request();
      peer.say(test::length_of(size));
      peer.wait_for_the_end();
    });
    const auto reply = client_of(server).call(call_of("f"));
    ASSERT_EQ(code_of(reply), Errc::outcome_unknown);
    EXPECT_NE(reply.error().message.find(std::to_string(size)), std::string::npos);
  }
}

TEST(ForrstClientSocket, an_answer_as_long_as_allowed_is_read) {
  const FrameServer server([](FramePeer& peer, int) {
    const auto request = peer.request();
    const auto empty = reply_to(request, R"("result":"")").size();
    peer.answer(reply_to(
        request, fmt::format(R"("result":"{}")", std::string(max_result_bytes - empty, 'x'))));
    peer.wait_for_the_end();
  });
  const auto reply = client_of(server).call(call_of("f", 60s));
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_GT(reply->result.get_string().size(), max_result_bytes - 200);
}

TEST(ForrstClientSocket, the_answer_to_another_request_is_not_taken_for_ours) {
  const FrameServer server([](FramePeer& peer, int) {
    while (!peer.request().empty()) peer.answer(reply_to(R"({"id":"another"})", R"("result":1)"));
  });
  const auto reply = client_of(server).call(call_of("f"));
  ASSERT_EQ(code_of(reply), Errc::outcome_unknown);
  EXPECT_NE(reply.error().message.find("`id`"), std::string::npos) << reply.error().message;
}

TEST(ForrstClientSocket, a_connection_with_an_answer_too_many_is_not_used_again) {
  const FrameServer server([](FramePeer& peer, int) {
    for (auto request = peer.request(); !request.empty(); request = peer.request()) {
      const auto json = reply_to(request, R"("result":1)");
      const auto frame = test::length_of(json.size()) + json;
      peer.say(frame + frame);
    }
  });
  const auto client = client_of(server);
  ASSERT_TRUE(client.call(call_of("f")));
  ASSERT_TRUE(client.call(call_of("f")));
  EXPECT_EQ(server.connections(), 2);
}

TEST(ForrstClientSocket, no_answer_in_time_leaves_open_what_happened) {
  const FrameServer server([](FramePeer& peer, int) {
    peer.request();
    peer.wait_for_the_end();
  });
  EXPECT_EQ(code_of(client_of(server).call(call_of("f", test::stretched(100ms)))),
            Errc::outcome_unknown);
}

TEST(ForrstClientSocket, an_attempt_may_take_as_long_as_its_lock_and_no_longer_than_its_deadline) {
  const FrameServer server([](FramePeer& peer, int) {
    peer.request();
    peer.wait_for_the_end();
  });
  const auto client = client_of(server);
  auto waits = call_of("f", 30ms);
  waits.lock = LockOptions{.key = "k", .ttl = 30s, .block = 1s};
  auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(code_of(client.call(waits)), Errc::outcome_unknown);
  EXPECT_GE(std::chrono::steady_clock::now() - began, 1030ms);
  // And a second for the server to say that the time is over.
  auto hurries = call_of("f", 1h);
  hurries.deadline = 30ms;
  began = std::chrono::steady_clock::now();
  EXPECT_EQ(code_of(client.call(hurries)), Errc::outcome_unknown);
  EXPECT_GE(std::chrono::steady_clock::now() - began, 1030ms);
}

TEST(ForrstClientSocket, a_forked_child_is_told_to_open_a_client_of_its_own) {
  const FrameServer server(always(R"("result":1)"));
  const auto client = client_of(server);
  ASSERT_TRUE(client.call(call_of("f")));
  const auto child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) ::_exit(code_of(client.call(call_of("f"))) == Errc::unavailable ? 0 : 1);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(client.call(call_of("f")));
  EXPECT_EQ(server.connections(), 1);
}

TEST(ForrstClientSocket, a_request_that_never_went_out_whole_did_nothing) {
  std::promise<void> over;
  const FrameServer server([done = over.get_future().share()](FramePeer&, int) { done.wait(); });
  const auto client = client_of(server);
  EXPECT_EQ(code_of(client.call(long_call(30ms))), Errc::unavailable);
  std::stop_source stop;
  auto calling =
      std::async(std::launch::async, [&] { return client.call(long_call(), stop.get_token()); });
  ASSERT_TRUE(test::eventually([&] { return server.connections() == 2; }));
  stop.request_stop();
  EXPECT_EQ(code_of(calling.get()), Errc::cancelled);
  over.set_value();
}

TEST(ForrstClientSocket, a_refusal_that_comes_before_the_request_has_gone_out_is_heard) {
  const FrameServer server([](FramePeer& peer, int) {
    peer.bytes(4);
    peer.answer(R"({"protocol":{"name":"forrst","version":"0.1.0"},"id":null,"result":null,)"
                R"("errors":[{"code":"INVALID_REQUEST","message":"too long"}]})");
  });
  const auto reply = client_of(server).call(long_call());
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_TRUE(reply->has("INVALID_REQUEST"));
}

TEST(ForrstClientSocket, a_stop_ends_the_wait_for_an_answer) {
  std::promise<void> heard;
  const FrameServer server([&](FramePeer& peer, int) {
    peer.request();
    heard.set_value();
    peer.wait_for_the_end();
  });
  const auto client = client_of(server);
  std::stop_source stop;
  auto calling = std::async(std::launch::async,
                            [&] { return client.call(call_of("f", 1h), stop.get_token()); });
  heard.get_future().wait();
  stop.request_stop();
  EXPECT_EQ(code_of(calling.get()), Errc::outcome_unknown);
  EXPECT_EQ(code_of(client.call(call_of("f"), stop.get_token())), Errc::cancelled);
  EXPECT_EQ(server.connections(), 1);
}

TEST(ForrstClientSocket, bytes_go_out_and_come_back_as_they_are) {
  const FrameServer server([](FramePeer& peer, int) { peer.answer("echo " + peer.request()); });
  const auto client = client_of(server);
  EXPECT_EQ(client.send("not even JSON", 10s), "echo not even JSON");
  EXPECT_EQ(client.send("", 10s).error().code, Errc::bad_input);
  EXPECT_EQ(client.send("x", 0s).error().code, Errc::bad_input);
}

TEST(ForrstClientSocket, a_call_that_breaks_a_rule_is_not_sent) {
  const FrameServer server(always(R"("result":1)"));
  EXPECT_EQ(code_of(client_of(server).call(call_of(""))), Errc::bad_input);
  EXPECT_EQ(server.connections(), 0);
}

}  // namespace
}  // namespace holdfast::forrst
