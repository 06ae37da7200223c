// SPDX-License-Identifier: Apache-2.0
//
// Callers that lose patience, and connections that outlive them.
#include "net/http/answer_time.hpp"
#include "net/http/client.hpp"
#include "raw_server.hpp"
#include "talk.hpp"

#include <fmt/format.h>

namespace holdfast::test {
namespace {

using net::http::AnswerTime;
using net::http::Client;
using net::http::ClientRequest;
using net::http::ClientResponse;
using net::http::Origin;

std::string answer_of(std::string_view body) {
  return fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{}", body.size(), body);
}

struct LateAnswers : testing::Test {
  // One connection at most.
  Client patient_client(const RawServer& server, std::chrono::milliseconds longest_silence) {
    Origin origin{.port = server.port(), .max_connections = 1};
    origin.longest_silence = longest_silence;
    return Client(runtime, std::move(origin), [this] { ++broken; });
  }
  static ClientRequest request(std::string target, std::chrono::milliseconds patience = 60s) {
    ClientRequest made{.target = std::move(target)};
    made.deadline = runtime::LocalClock::now() + patience;
    return made;
  }
  static Result<ClientResponse> ask(Client& client, ClientRequest what) {
    return runtime::run_blocking(client.send(std::move(what)));
  }
  static Errc failure(Client& client, ClientRequest what) {
    const auto answer = ask(client, std::move(what));
    return answer ? Errc{} : answer.error().code;
  }
  // Gives a request up after it was sent.
  void lose_patience(Client& client, std::atomic<int>& seen, ClientRequest what) {
    std::stop_source stop;
    what.stop = stop.get_token();
    const int before = seen;
    auto asking = std::async(std::launch::async, [&] { return failure(client, what); });
    ASSERT_TRUE(eventually([&] { return seen > before; }));
    stop.request_stop();
    EXPECT_EQ(asking.get(), Errc::outcome_unknown);
  }

  std::shared_ptr<runtime::Runtime> runtime = runtime::shared_runtime();
  std::atomic<int> broken{0};
};

TEST_F(LateAnswers, a_late_answer_is_dropped_and_its_connection_is_used_again) {
  std::promise<void> go;
  std::atomic<int> seen{0};
  const RawServer server([&](RawPeer& peer, int) {
    peer.request();
    ++seen;
    go.get_future().wait();
    peer.say(answer_of("late"));
    while (!peer.request().empty()) peer.say(answer_of("next"));
  });
  Client client = patient_client(server, 60s);
  lose_patience(client, seen, request("/first"));
  auto next = std::async(std::launch::async, [&] { return ask(client, request("/second")); });
  go.set_value();
  const auto answer = next.get();
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->body, "next") << "the late answer was taken for that of another request";
  EXPECT_EQ(server.connections(), 1);
  EXPECT_EQ(broken, 0) << "a caller's patience says nothing about the connection";
}

TEST_F(LateAnswers, a_connection_that_stays_silent_is_closed) {
  std::atomic<int> seen{0};
  const RawServer server([&](RawPeer& peer, int nth) {
    while (!peer.request().empty()) {
      ++seen;
      if (nth > 0) peer.say(answer_of("fresh"));
    }
  });
  Client client = patient_client(server, 200ms);
  lose_patience(client, seen, request("/first"));
  const auto answer = ask(client, request("/second"));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->body, "fresh");
  EXPECT_EQ(server.connections(), 2);
  EXPECT_EQ(broken, 0);
}

TEST_F(LateAnswers, a_late_answer_that_keeps_coming_is_read_to_its_end) {
  std::atomic<int> seen{0};
  const RawServer server([&](RawPeer& peer, int) {
    while (!peer.request().empty()) {
      if (seen++ > 0) {
        peer.say(answer_of("next"));
        continue;
      }
      peer.say("HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n");
      // In all longer than the silence that is allowed.
      for (int piece = 0; piece < 12; ++piece) {
        std::this_thread::sleep_for(100ms);
        peer.say("x");
      }
    }
  });
  Client client = patient_client(server, 1s);
  lose_patience(client, seen, request("/first"));
  EXPECT_EQ(ask(client, request("/second"))->body, "next");
  EXPECT_EQ(server.connections(), 1);
}

TEST_F(LateAnswers, a_kept_connection_that_is_dead_costs_a_repeatable_request_its_silence_only) {
  const RawServer server([&](RawPeer& peer, int nth) {
    peer.request();
    peer.say(answer_of("first"));
    while (!peer.request().empty()) {
      if (nth > 0) peer.say(answer_of("again"));
    }
  });
  Client client = patient_client(server, 200ms);
  EXPECT_EQ(ask(client, request("/"))->body, "first");
  auto what = request("/");
  what.repeatable = true;
  const auto answer = ask(client, std::move(what));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(server.connections(), 2);
}

TEST_F(LateAnswers, a_dead_connection_does_not_starve_others_for_as_long_as_its_caller_is_patient) {
  std::atomic<int> seen{0};
  const RawServer server([&](RawPeer& peer, int nth) {
    while (!peer.request().empty()) {
      ++seen;
      if (nth > 0) peer.say(answer_of("fresh"));
    }
  });
  Client client = patient_client(server, 200ms);
  auto renewal = request("/renewal_of_a_long_lease");
  renewal.repeatable = true;
  auto patient = std::async(std::launch::async, [&] { return ask(client, std::move(renewal)); });
  ASSERT_TRUE(eventually([&] { return seen == 1; }));
  const auto answer = ask(client, request("/renewal_of_a_short_lease", 5s));
  EXPECT_TRUE(answer) << answer.error().message;
}

TEST_F(LateAnswers, what_cannot_be_answered_in_time_is_not_sent) {
  std::promise<void> go;
  std::atomic<int> held_there{0};
  std::atomic<int> hopeless{0};
  const RawServer server([&](RawPeer& peer, int) {
    for (auto got = peer.request(); !got.empty(); got = peer.request()) {
      if (got.contains("/slow")) std::this_thread::sleep_for(500ms);
      if (got.contains("/held") && ++held_there > 0) go.get_future().wait();
      if (got.contains("/hopeless")) ++hopeless;
      peer.say(answer_of("yes"));
    }
  });
  Client client = patient_client(server, 60s);
  // No answer took less than half a second so far.
  ASSERT_TRUE(ask(client, request("/slow")));
  auto held = std::async(std::launch::async, [&] { return ask(client, request("/held")); });
  ASSERT_TRUE(eventually([&] { return held_there == 1; }));
  std::promise<Errc> end;
  const auto began = runtime::LocalClock::now();
  runtime::spawn(client.send(request("/hopeless", 900ms)), [&](Result<ClientResponse>&& answer) {
    end.set_value(answer ? Errc{} : answer.error().code);
  });
  std::this_thread::sleep_for(600ms);
  go.set_value();
  EXPECT_TRUE(held.get());
  EXPECT_EQ(end.get_future().get(), Errc::unavailable) << "surely not sent";
  EXPECT_GE(runtime::LocalClock::now() - began, 900ms) << "it ends by its own deadline";
  EXPECT_TRUE(ask(client, request("/")));
  EXPECT_EQ(hopeless, 0);
}

TEST_F(LateAnswers, the_end_of_a_request_that_was_given_up_is_told_when_it_comes) {
  std::promise<void> go;
  std::atomic<int> seen{0};
  const RawServer server([&](RawPeer& peer, int) {
    peer.request();
    ++seen;
    go.get_future().wait();
    peer.say(answer_of("late"));
    peer.request();
  });
  Client client = patient_client(server, 60s);
  std::promise<bool> settled;
  std::atomic<bool> is_settled{false};
  auto what = request("/first");
  what.settled = [&](bool is_sure) {
    is_settled = true;
    settled.set_value(is_sure);
  };
  lose_patience(client, seen, std::move(what));
  EXPECT_FALSE(is_settled);
  go.set_value();
  EXPECT_TRUE(settled.get_future().get()) << "it was answered after all";
}

TEST_F(LateAnswers, whether_anything_may_still_happen_is_told) {
  std::promise<bool> unsent;
  auto what = request("/");
  what.settled = [&](bool is_sure) { unsent.set_value(is_sure); };
  {
    Client nowhere(runtime, Origin{.port = 1}, [this] { ++broken; });
    EXPECT_EQ(failure(nowhere, what), Errc::unavailable);
  }
  EXPECT_TRUE(unsent.get_future().get());
  EXPECT_EQ(broken, 1);
  std::promise<bool> broke;
  what.settled = [&](bool is_sure) { broke.set_value(is_sure); };
  const RawServer server([](RawPeer& peer, int) { peer.request(); });
  Client client = patient_client(server, 60s);
  EXPECT_EQ(failure(client, what), Errc::outcome_unknown);
  EXPECT_FALSE(broke.get_future().get());
  EXPECT_EQ(broken, 2);
}

TEST(AnswerTimes, the_shortest_of_late_counts_and_is_forgotten) {
  AnswerTime time;
  const runtime::LocalTime began{100h};
  EXPECT_EQ(time.shortest(began), 0us);
  time.note(began, 30ms);
  time.note(began + 1s, 20ms);
  time.note(began + 2s, 900ms);
  EXPECT_EQ(time.shortest(began + 2s), 20ms);
  time.note(began + 6s, 700ms);
  EXPECT_EQ(time.shortest(began + 6s), 20ms) << "of the period before";
  EXPECT_EQ(time.shortest(began + 12s), 700ms);
  EXPECT_EQ(time.shortest(began + 30s), 0us) << "nobody has measured since";
}

}  // namespace
}  // namespace holdfast::test
