// SPDX-License-Identifier: Apache-2.0
//
// Where a server may listen, and which options belong together.
#include "server/config.hpp"
#include "server/listen_address.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace holdfast::server {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;

TEST(ListenAddress, is_read_in_every_form) {
  struct Case {
    std::string text;
    ListenAddress address;
    std::string shown;
  };
  for (const auto& [text, address, shown] : {
           Case{"127.0.0.1:3009", {"127.0.0.1", 3009, "", true}, "127.0.0.1:3009"},
           Case{"127.8.9.1:1", {"127.8.9.1", 1, "", true}, "127.8.9.1:1"},
           Case{"localhost:0", {"127.0.0.1", 0, "", true}, "127.0.0.1:0"},
           Case{"0.0.0.0:65535", {"0.0.0.0", 65535, "", false}, "0.0.0.0:65535"},
           Case{"10.0.0.1:80", {"10.0.0.1", 80, "", false}, "10.0.0.1:80"},
           Case{"128.0.0.1:80", {"128.0.0.1", 80, "", false}, "128.0.0.1:80"},
           Case{"[::1]:3009", {"::1", 3009, "", true}, "[::1]:3009"},
           Case{"[0:0:0:0:0:0:0:1]:3009", {"::1", 3009, "", true}, "[::1]:3009"},
           Case{"[::]:3009", {"::", 3009, "", false}, "[::]:3009"},
           Case{"[2001:DB8::1]:1", {"2001:db8::1", 1, "", false}, "[2001:db8::1]:1"},
           Case{"[::ffff:10.0.0.1]:1", {"::ffff:10.0.0.1", 1, "", false}, "[::ffff:10.0.0.1]:1"},
           Case{"unix:/run/x.sock", {"", 0, "/run/x.sock", true}, "unix:/run/x.sock"},
       }) {
    const auto parsed = parse_listen(text);
    ASSERT_TRUE(parsed) << text << ": " << parsed.error().message;
    EXPECT_EQ(*parsed, address) << text;
    EXPECT_EQ(to_string(*parsed), shown);
  }
}

TEST(ListenAddress, is_refused_with_the_rule) {
  const auto form = "must be ADDRESS:PORT, [IPV6]:PORT or unix:/PATH";
  const auto host = "must begin with an IP address or localhost";
  const auto port = "must end with a port from 0 to 65535";
  const auto socket = "must name a socket by its absolute path";
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", form},
      {"3009", form},
      {"127.0.0.1", form},
      {"::1:3009", form},
      {"::1", form},
      {":3009", host},
      {"*:3009", host},
      {"example.org:3009", host},
      {"LOCALHOST:3009", host},
      {"127.1:3009", host},
      {"0127.0.0.1:3009", host},
      {"256.0.0.1:3009", host},
      {"[127.0.0.1]:3009", host},
      {"[::1%lo]:3009", host},
      {"[]:3009", host},
      {" 127.0.0.1:3009", host},
      {"127.0.0.1\0:3009"s, host},
      {"127.0.0.1:", port},
      {"127.0.0.1:x", port},
      {"127.0.0.1:-1", port},
      {"127.0.0.1:65536", port},
      {"127.0.0.1:30 ", port},
      {"[::1]:", port},
      {"http://127.0.0.1:3009", form},
      {"unix:", socket},
      {"unix:x.sock", socket},
      {"unix:/run/", socket},
      {"unix:/run/\n", socket},
      {"unix:/" + std::string(107, 'x'), "has a path of more than 107 bytes"},
  };
  for (const auto& [text, rule] : cases) {
    const auto parsed = parse_listen(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, Errc::bad_input);
    EXPECT_NE(parsed.error().message.find(rule), std::string::npos) << parsed.error().message;
  }
}

std::string refusal(const std::function<void(ServerOptions&)>& change) {
  ServerOptions options;
  change(options);
  const auto checked = check(options);
  return checked ? "fine" : checked.error().message;
}

TEST(ServerOptions, beyond_loopback_need_tokens_and_tls) {
  const auto reached = "listen: 0.0.0.0:3009 can be reached from other machines: "s;
  const auto open = [](ServerOptions& options) { options.listen = {"0.0.0.0:3009"}; };
  EXPECT_EQ(refusal(open), reached +
                               "give token_file and tls.certificate, or say "
                               "insecure_without_auth and insecure_without_tls");
  const auto add_tls = [](ServerOptions& options) { options.tls = {"/c", "/k", "", {}}; };
  const auto add_tokens = [](ServerOptions& options) { options.token_file = "/t"; };
  EXPECT_EQ(refusal([&](auto& options) { open(options), add_tls(options); }),
            reached + "give token_file, or say insecure_without_auth");
  EXPECT_EQ(refusal([&](auto& options) { open(options), add_tokens(options); }),
            reached + "give tls.certificate, or say insecure_without_tls");
  EXPECT_EQ(refusal([&](auto& options) { open(options), add_tokens(options), add_tls(options); }),
            "fine");
  EXPECT_EQ(refusal([&](auto& options) {
              open(options), add_tokens(options), options.insecure_without_tls = true;
            }),
            "fine");
  EXPECT_EQ(refusal([&](auto& options) {
              open(options), options.insecure_without_auth = options.insecure_without_tls = true;
            }),
            "fine");
  EXPECT_EQ(refusal([&](auto& options) { open(options), options.insecure_without_auth = true; }),
            reached + "give tls.certificate, or say insecure_without_tls");
}

TEST(ServerOptions, on_loopback_need_nothing) {
  for (const auto* address : {"127.0.0.1:3009", "127.0.0.2:0", "[::1]:3009", "localhost:3009",
                              "unix:/run/holdfast.sock"}) {
    EXPECT_EQ(refusal([&](auto& options) { options.listen = {address}; }), "fine") << address;
  }
  for (const auto* address : {"[::]:3009", "10.0.0.1:3009", "[::ffff:10.0.0.1]:3009"}) {
    EXPECT_NE(refusal([&](auto& options) { options.listen = {"127.0.0.1:1", address}; }), "fine");
  }
}

TEST(ServerOptions, that_do_not_fit_together_are_refused) {
  using Options = ServerOptions;
  const auto clients = ClientCertificates::required;
  const std::vector<std::pair<std::function<void(Options&)>, std::string>> cases{
      {[](Options& o) { o.tls.key = "/k"; }, "tls.key needs tls.certificate"},
      {[](Options& o) { o.tls.certificate = "/c"; }, "tls.certificate needs tls.key"},
      {[&](Options& o) { o.tls = {"/c", "/k", "", clients}; }, "tls.clients needs tls.client_ca"},
      {[&](Options& o) { o.tls = {"", "", "/ca", clients}; }, "tls.clients needs tls.certificate"},
      {[](Options& o) { o.tls = {"/c", "/k", "/ca", {}}; }, "tls.client_ca is not used while"},
      {[](Options& o) { o.listen = {}; }, "listen: give at least one address"},
      {[](Options& o) { o.listen = {"x"}; }, "listen: \"x\" must be ADDRESS:PORT"},
      {[](Options& o) { o.listen = {"127.0.0.1:1", "127.0.0.1:1"}; },
       "listen: 127.0.0.1:1 stands twice"},
      {[](Options& o) { o.listen = {"127.0.0.1:1", "localhost:1"}; },
       "listen: 127.0.0.1:1 stands twice"},
      {[](Options& o) { o.listen = {"[::1]:1", "[0::1]:1"}; }, "listen: [::1]:1 stands twice"},
      {[](Options& o) { o.listen = {"unix:/a", "unix:/a"}; }, "listen: unix:/a stands twice"},
      {[](Options& o) { o.patterns.min_duration = 21s; },
       "patterns.min_duration must not be longer"},
      {[](Options& o) { o.allowed_hosts = {"a.org", "*"}; }, "allowed_hosts: \"*\" must be a host"},
      {[](Options& o) { o.allowed_origins = {"*"}; }, "allowed_origins: \"*\" must be an origin"},
      {[](Options& o) { o.patterns.max_duration = 24h; },
       "patterns.max_duration must be shorter than 24h"},
      {[](Options& o) { o.patterns.upstreams = {{"a", "h"}}; },
       "patterns.upstreams.a: \"h\" must be an http:// or https:// URL with a host"},
      {[](Options& o) { o.idempotency.ttl = 0s; }, "idempotency.ttl must be from 1s to 31d"},
      {[](Options& o) { o.idempotency.guard = 25h; },
       "idempotency.guard must be from 100ms to 24h"},
      {[](Options& o) { o.patterns.upstreams = {{"", "http://h"}}; },
       "patterns.upstreams: \"\" must be a name"},
  };
  for (const auto& [change, rule] : cases) {
    const auto said = refusal(change);
    EXPECT_NE(said.find(rule), std::string::npos) << said;
  }
}

TEST(ServerOptions, that_look_odd_but_fit_are_fine) {
  EXPECT_EQ(refusal([](auto& o) { o.listen = {"127.0.0.1:0", "127.0.0.1:0"}; }), "fine");
  EXPECT_EQ(refusal([](auto& o) { o.listen = {"127.0.0.1:1", "[::1]:1"}; }), "fine");
  EXPECT_EQ(refusal([](auto& o) { o.patterns.min_duration = o.patterns.max_duration; }), "fine");
  EXPECT_EQ(refusal([](auto& o) { o.patterns.upstreams = {{"a", "https://h:1/x?y=z"}}; }), "fine");
}

}  // namespace
}  // namespace holdfast::server
