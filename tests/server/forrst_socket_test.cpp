// SPDX-License-Identifier: Apache-2.0
//
// Forrst on a unix socket: four bytes of length, and so much JSON.
#include "forrst_fixture.hpp"
#include "server/auth/secret.hpp"

#include <boost/json/parse.hpp>
#include <sys/socket.h>

#include <future>

namespace holdfast::server {
namespace {

using namespace std::chrono_literals;
using test::eventually;

std::string length_text(std::uint32_t length) {
  std::string text;
  for (int shift = 24; shift >= 0; shift -= 8) {
    text.push_back(static_cast<char>(length >> static_cast<unsigned>(shift) & 0xffU));
  }
  return text;
}

std::string frame_of(const std::string& body) {
  return length_text(static_cast<std::uint32_t>(body.size())) + body;
}

// A client with frames; HttpConnection has all that is needed of a socket.
class FrameClient {
 public:
  explicit FrameClient(const std::string& path) : connection_("unix:" + path) {}

  bool send(const std::string& bytes) { return connection_.send(bytes); }
  void close() { connection_.close(); }
  HttpConnection& connection() { return connection_; }

  // The next answer; null if there is none.
  boost::json::value receive() {
    const auto head = bytes(4);
    if (head.size() < 4) return nullptr;
    std::uint32_t length = 0;
    for (const char each : head) length = length << 8U | static_cast<unsigned char>(each);
    const auto body = bytes(length);
    if (body.size() < length) return nullptr;
    return boost::json::parse(body);
  }
  boost::json::value ask(const std::string& body) {
    EXPECT_TRUE(send(frame_of(body)));
    return receive();
  }

 private:
  std::string bytes(std::size_t count) const {
    std::string out(count, '\0');
    timeval patience{.tv_sec = 10, .tv_usec = 0};
    setsockopt(connection_.fd(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    std::size_t got = 0;
    while (got < count) {
      const auto more = recv(connection_.fd(), out.data() + got, count - got, 0);
      if (more < 0 && errno == EINTR) continue;
      if (more <= 0) break;
      got += static_cast<std::size_t>(more);
    }
    out.resize(got);
    return out;
  }

  HttpConnection connection_;
};

class ForrstSocket : public ForrstTest {
 protected:
  ForrstSocket() { options.forrst.socket = file("forrst.sock"); }
  const std::string& path() const { return options.forrst.socket; }

  void offer_sleeper() {
    offer_command("work.sleep",
                  {script("sleep", fmt::format("echo $$ > {}; exec sleep 1000", file("pid")))})
        .about.timeout = 1h;
  }
  std::chrono::microseconds limit_times(std::chrono::milliseconds idle) {
    const auto time = test::stretched(idle);
    options.limits.header_timeout = time;
    options.limits.body_timeout = time;
    options.limits.idle_timeout = time;
    return time;
  }
  pid_t sleeper() { return std::stoi("0" + written("pid")); }
};

TEST_F(ForrstSocket, answers_frame_by_frame) {
  start();
  FrameClient client(path());
  for (int each = 0; each < 3; ++each) {
    const auto answer = client.ask(forrst_request(ping));
    ASSERT_TRUE(answer.is_object());
    EXPECT_EQ(answer.at("id").as_string(), "req_1");
    EXPECT_EQ(answer.at("result").at("status").as_string(), "healthy");
  }
}

TEST_F(ForrstSocket, frames_may_come_together_or_byte_by_byte) {
  start();
  FrameClient client(path());
  const auto frame = frame_of(forrst_request(ping));
  client.send(frame + frame + frame.substr(0, 2));
  EXPECT_TRUE(client.receive().is_object());
  EXPECT_TRUE(client.receive().is_object());
  for (const char each : frame.substr(2)) client.send(std::string(1, each));
  EXPECT_TRUE(client.receive().is_object());
}

TEST_F(ForrstSocket, a_bad_request_is_answered_and_the_next_one_too) {
  start();
  FrameClient client(path());
  EXPECT_EQ(first_code(client.ask("{")), "PARSE_ERROR");
  EXPECT_EQ(first_code(client.ask(forrst_request("no.such"))), "FUNCTION_NOT_FOUND");
  EXPECT_EQ(first_code(client.ask(forrst_request(ping))), "");
}

TEST_F(ForrstSocket, a_length_of_nothing_or_too_much_is_refused_and_the_connection_ends) {
  start();
  for (const std::uint32_t length :
       {0U, static_cast<unsigned>(forrst::max_request_bytes) + 1, 0xffffffffU, 0x50555420U}) {
    FrameClient client(path());
    client.send(length_text(length) + "PUT ");
    const auto answer = client.receive();
    EXPECT_EQ(first_code(answer), "INVALID_REQUEST") << length;
    EXPECT_TRUE(answer.at("id").is_null());
    EXPECT_TRUE(client.connection().is_closed_within(10s));
  }
}

TEST_F(ForrstSocket, a_frame_may_have_a_mebibyte) {
  start();
  FrameClient client(path());
  auto body = forrst_request(ping);
  body.insert(body.size() - 1, forrst::max_request_bytes - body.size(), ' ');
  EXPECT_EQ(first_code(client.ask(body)), "");
}

TEST_F(ForrstSocket, half_a_frame_and_silence_have_their_time_outs) {
  limit_times(200ms);
  start();
  FrameClient silent(path());
  FrameClient in_length(path());
  FrameClient in_body(path());
  in_length.send(std::string(2, '\0'));
  in_body.send(length_text(100) + "{");
  EXPECT_EQ(first_code(in_length.receive()), "INVALID_REQUEST");
  EXPECT_EQ(first_code(in_body.receive()), "INVALID_REQUEST");
  EXPECT_TRUE(in_length.connection().is_closed_within(10s));
  EXPECT_TRUE(in_body.connection().is_closed_within(10s));
  EXPECT_TRUE(silent.connection().is_closed_within(10s));
}

TEST_F(ForrstSocket, work_may_take_longer_than_the_time_outs) {
  const auto time = limit_times(200ms);
  offer_command("work.do",
                {script("work", fmt::format("sleep {:.3f}; echo 1",
                                            2.5 * static_cast<double>(time / 1ms) / 1000))});
  start();
  FrameClient client(path());
  EXPECT_EQ(client.ask(forrst_request("work.do")).at("result").as_int64(), 1);
}

TEST_F(ForrstSocket, a_client_that_leaves_ends_its_command_and_its_lock) {
  offer_sleeper();
  start();
  FrameClient client(path());
  client.send(frame_of(forrst_request("work.sleep", {}, lock_extension("a"))));
  ASSERT_GT(sleeper(), 0);
  EXPECT_TRUE(is_locked("lock:work.sleep:a"));
  client.close();
  EXPECT_TRUE(eventually([&] { return !is_locked("lock:work.sleep:a"); }));
  EXPECT_TRUE(eventually([&] { return !test::is_running(sleeper()); }));
}

TEST_F(ForrstSocket, a_client_that_leaves_while_it_waits_gives_up_its_place) {
  offer_command("work.do", {script("work", "echo 1")});
  start();
  ASSERT_EQ(
      invoke("work.do", {}, lock_extension("a", R"(,"auto_release":false,"owner":"me")")).status,
      200);
  const auto has_waiters = [&] {
    return !get("/v1/locks/lock:work.do:a").json().at("waiters").as_array().empty();
  };
  FrameClient client(path());
  client.send(frame_of(
      forrst_request("work.do", {}, lock_extension("a", R"(,"block":{"value":1,"unit":"hour"})"))));
  ASSERT_TRUE(eventually(has_waiters));
  client.close();
  EXPECT_TRUE(eventually([&] { return !has_waiters(); }));
}

TEST_F(ForrstSocket, the_file_is_for_its_user_and_group_and_gone_afterwards) {
  start();
  struct stat status{};
  ASSERT_EQ(stat(path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0660U);
  server.reset();
  EXPECT_FALSE(std::filesystem::exists(path()));
}

TEST_F(ForrstSocket, a_file_that_is_no_socket_or_anothers_is_not_touched) {
  start();
  auto second = Server::start(options, *open_core("memory:"));
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find("forrst.socket: cannot listen on"), std::string::npos);
  FrameClient client(path());
  EXPECT_EQ(first_code(client.ask(forrst_request(ping))), "");

  options.forrst.socket = file("precious");
  std::ofstream(path()) << "precious";
  second = Server::start(options, *open_core("memory:"));
  EXPECT_FALSE(second);
  EXPECT_EQ(std::filesystem::file_size(path()), 8U);
}

TEST_F(ForrstSocket, beyond_max_connections_one_is_told_so) {
  options.limits.max_connections = 2;
  start();
  FrameClient first(path());
  FrameClient second(path());
  EXPECT_EQ(first_code(first.ask(forrst_request(ping))), "");
  EXPECT_EQ(first_code(second.ask(forrst_request(ping))), "");
  FrameClient third(path());
  EXPECT_EQ(first_code(third.receive()), "UNAVAILABLE");
  first.close();
  EXPECT_TRUE(eventually([&] {
    FrameClient again(path());
    again.send(frame_of(forrst_request(ping)));
    return first_code(again.receive()).empty();
  }));
}

TEST_F(ForrstSocket, with_tokens_it_has_the_verbs_of_the_configuration) {
  options.token_file = file("tokens");
  std::ofstream(options.token_file) << "reader " << to_hex(hash_of("reads")) << " read *\n";
  ASSERT_EQ(chmod(options.token_file.c_str(), 0600), 0);
  constexpr std::string_view force = "urn:cline:forrst:ext:atomic-lock:fn:force-release";
  offer_command("work.do", {script("work", "echo 1")});
  const auto codes = [&] {
    FrameClient client(path());
    const auto locked = client.ask(forrst_request(
        "work.do", {}, lock_extension("a", R"(,"auto_release":false,"owner":"me")")));
    const auto forced = client.ask(forrst_request(force, {{"key", "lock:work.do:a"}}));
    EXPECT_TRUE(locked.is_object()) << locked;
    EXPECT_TRUE(forced.is_object()) << forced;
    return first_code(locked) + "/" + first_code(forced);
  };
  start();
  EXPECT_EQ(codes(), "/FORBIDDEN");
  server.reset();
  options.forrst.socket_verbs = {Verb::read};
  start();
  EXPECT_EQ(codes(), "FORBIDDEN/FORBIDDEN");
  server.reset();
  options.forrst.socket_verbs = {Verb::admin};
  start();
  EXPECT_EQ(codes(), "/");
  server.reset();
  // Without tokens nobody is told apart.
  options.forrst.socket_verbs = {Verb::read};
  options.token_file.clear();
  start();
  EXPECT_EQ(codes(), "/");
}

TEST_F(ForrstSocket, many_clients_at_once_each_get_their_own) {
  offer_command("work.echo", {"cat"});
  start();
  std::vector<std::future<bool>> clients;
  for (int each = 0; each < 20; ++each) {
    clients.push_back(std::async(std::launch::async, [this, each] {
      FrameClient client(path());
      for (int times = 0; times < 5; ++times) {
        const auto answer = client.ask(forrst_request("work.echo", {{"n", each}}));
        if (!answer.is_object() || answer.at("result").at("n").as_int64() != each) return false;
      }
      return true;
    }));
  }
  for (auto& each : clients) EXPECT_TRUE(each.get());
}

TEST_F(ForrstSocket, drains_with_the_server) {
  options.drain = 300ms;
  offer_sleeper();
  start();
  FrameClient idle(path());
  EXPECT_EQ(first_code(idle.ask(forrst_request(ping))), "");
  FrameClient busy(path());
  busy.send(frame_of(forrst_request("work.sleep", {}, lock_extension("a"))));
  const auto pid = sleeper();
  ASSERT_GT(pid, 0);
  server->stop();
  EXPECT_TRUE(idle.connection().is_closed_within(10s));
  EXPECT_TRUE(busy.connection().is_closed_within(10s));
  EXPECT_FALSE(test::is_running(pid));
}

}  // namespace
}  // namespace holdfast::server
