// SPDX-License-Identifier: Apache-2.0
#include "server/config.hpp"

#include "config_fixture.hpp"
#include "server/config_reader.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace holdfast::server {
namespace {

using namespace std::chrono_literals;

const std::string before_section = "ttl: 30s\nserver:\n";  // which begins in the third line

ServerOptions loaded(const std::string& section) {
  auto options = options_in(before_section + section);
  if (options) return *std::move(options);
  ADD_FAILURE() << options.error().message;
  return {};
}

std::string section_refusal(const std::string& section) {
  return refusal_of(before_section + section);
}

TEST(ServerConfig, without_a_section_is_the_defaults) {
  const auto options = load_server_options({}, "config.yml");
  ASSERT_TRUE(options);
  EXPECT_EQ(options->listen, std::vector<std::string>{"127.0.0.1:3009"});
  EXPECT_TRUE(check(*options));
  EXPECT_EQ(loaded("  {}\n").threads, 1U);
}

TEST(ServerConfig, a_comment_before_the_wrong_line_does_not_move_it) {
  EXPECT_TRUE(
      section_refusal("  # one\n\n  drain: 1s\n\n  # as many as there are cores\n  threads: 0\n")
          .starts_with("config.yml:8: server.threads"));
  EXPECT_TRUE(section_refusal("  drain: 1s\r\n  # windows\r\n\r\n  threads: 0\r\n")
                  .starts_with("config.yml:6: server.threads"));
}

TEST(ServerConfig, every_key_is_read) {
  const auto options = loaded(R"(
  listen: [0.0.0.0:3009, "[::1]:3010", "unix:/run/holdfast.sock"]
  store: redis://10.0.0.1
  threads: 4
  drain: 30s
  tls: {certificate: /c.pem, key: /k.pem, client_ca: /ca.pem, clients: optional}
  token_file: /etc/holdfast/tokens
  allowed_hosts: locks.example.org
  allowed_origins: ["https://app.example.org", "http://localhost:8080"]
  insecure_without_auth: true
  insecure_without_tls: true
  log: {format: json, level: warning}
  deadlock_victim: youngest
  audit: {file: /var/log/holdfast.log, max_file_bytes: 1MiB, kept_files: 9}
  patterns:
    redlock: {store: "redlock://a,b,c"}
    ttl: 26s
    min_duration: 1s
    max_duration: 2s
    upstreams: {payments: "http://10.0.0.2:8080/pay", mail: "https://mail.example.org"}
  idempotency: {ttl: 7d, guard: 1m, take_over: run}
)");
  EXPECT_EQ(options.listen,
            (std::vector<std::string>{"0.0.0.0:3009", "[::1]:3010", "unix:/run/holdfast.sock"}));
  EXPECT_EQ(options.store, "redis://10.0.0.1");
  EXPECT_EQ(options.threads, 4U);
  EXPECT_EQ(options.drain, 30s);
  EXPECT_EQ(options.tls.certificate, "/c.pem");
  EXPECT_EQ(options.tls.key, "/k.pem");
  EXPECT_EQ(options.tls.client_ca, "/ca.pem");
  EXPECT_EQ(options.tls.clients, ClientCertificates::optional);
  EXPECT_EQ(options.token_file, "/etc/holdfast/tokens");
  EXPECT_EQ(options.allowed_hosts, std::vector<std::string>{"locks.example.org"});
  EXPECT_EQ(options.allowed_origins.size(), 2U);
  EXPECT_TRUE(options.insecure_without_auth);
  EXPECT_TRUE(options.insecure_without_tls);
  EXPECT_EQ(options.log_format, LogFormat::json);
  EXPECT_EQ(options.log_level, LogLevel::warning);
  EXPECT_EQ(options.deadlock_victim, DeadlockVictim::youngest);
  EXPECT_EQ(options.audit.file, "/var/log/holdfast.log");
  EXPECT_EQ(options.audit.max_file_bytes, 1024U * 1024U);
  EXPECT_EQ(options.audit.kept_files, 9U);
  EXPECT_EQ(options.patterns.redlock_store, "redlock://a,b,c");
  EXPECT_EQ(options.patterns.ttl, 26s);
  EXPECT_EQ(options.patterns.min_duration, 1s);
  EXPECT_EQ(options.patterns.max_duration, 2s);
  EXPECT_EQ(options.patterns.upstreams.at("payments"), "http://10.0.0.2:8080/pay");
  EXPECT_EQ(options.patterns.upstreams.size(), 2U);
  EXPECT_EQ(options.idempotency.ttl, std::chrono::days(7));
  EXPECT_EQ(options.idempotency.guard, 60s);
  EXPECT_EQ(options.idempotency.take_over, OnceOptions::TakeOver::run);
  EXPECT_TRUE(check(options));
}

struct LimitCase {
  std::string_view name;
  std::size_t Limits::* field;
  std::uint64_t least;
  std::uint64_t most;
  bool is_size = false;
};

constexpr LimitCase limit_cases[] = {
    {"max_body_bytes", &Limits::max_body_bytes, 1024, 16 << 20U, true},
    {"max_header_bytes", &Limits::max_header_bytes, 1024, 1 << 20U, true},
    {"max_headers", &Limits::max_headers, 4, 1000},
    {"max_connections", &Limits::max_connections, 1, 1'000'000},
    {"max_connections_per_address", &Limits::max_connections_per_address, 1, 1'000'000},
    {"max_waiters_per_name", &Limits::max_waiters_per_name, 1, 16384},
    {"max_waiters", &Limits::max_waiters, 1, 1'000'000},
    {"max_pipelined", &Limits::max_pipelined, 1, 1000},
    {"max_output_bytes", &Limits::max_output_bytes, 16 << 10U, 1 << 30U, true},
    {"max_sessions", &Limits::max_sessions, 1, 1'000'000},
    {"max_session_leases", &Limits::max_session_leases, 1, 100'000},
    {"max_event_streams", &Limits::max_event_streams, 0, 100'000},
    {"kept_events", &Limits::kept_events, 0, 1'000'000},
    {"max_observed", &Limits::max_observed, 0, 1'000'000},
};

TEST(ServerConfig, every_limit_has_its_range) {
  for (const auto& each : limit_cases) {
    SCOPED_TRACE(each.name);
    const auto section = [&](std::string_view value) {
      return fmt::format("  limits: {{{}: {}}}\n", each.name, value);
    };
    EXPECT_EQ(loaded(section(std::to_string(each.least))).limits.*each.field, each.least);
    EXPECT_EQ(loaded(section(std::to_string(each.most))).limits.*each.field, each.most);
    const auto begin = fmt::format("config.yml:3: server.limits.{} must be ", each.name);
    const auto range =
        each.is_size
            ? fmt::format("a size from {} to {}", format_size(each.least), format_size(each.most))
            : fmt::format("an integer from {} to {}", each.least, each.most);
    for (const auto& value :
         {std::to_string(each.most + 1),
          each.least > 0 ? std::to_string(each.least - 1) : "18446744073709551615"}) {
      EXPECT_EQ(section_refusal(section(value)),
                fmt::format("{}{}; got \"{}\"", begin, range, value));
    }
    for (const auto* value : {"-1", "1.5", "1e3", "many", "''", "1 000", "0x10", "1_000", "NaN",
                              "99999999999999999999", "[1]", "~", "64K", "+5"}) {
      const auto said = section_refusal(section(value));
      EXPECT_TRUE(said.starts_with(begin + range)) << value << ": " << said;
    }
  }
}

TEST(ServerConfig, every_time_limit_has_its_range) {
  const std::pair<std::string_view, Duration Limits::*> fields[] = {
      {"header_timeout", &Limits::header_timeout},
      {"body_timeout", &Limits::body_timeout},
      {"idle_timeout", &Limits::idle_timeout}};
  for (const auto& [name, field] : fields) {
    SCOPED_TRACE(name);
    EXPECT_EQ(loaded(fmt::format("  limits: {{{}: 100ms}}\n", name)).limits.*field, 100ms);
    EXPECT_EQ(loaded(fmt::format("  limits: {{{}: 1h}}\n", name)).limits.*field, 1h);
    for (const auto* value : {"99ms", "61m", "0s"}) {
      EXPECT_EQ(section_refusal(fmt::format("  limits: {{{}: {}}}\n", name, value)),
                fmt::format("config.yml:3: server.limits.{} must be from 100ms to 1h; got \"{}\"",
                            name, value));
    }
  }
  EXPECT_EQ(loaded("  limits: {token_requests_per_s: 1000000}\n").limits.token_requests_per_s,
            1'000'000U);
  EXPECT_EQ(section_refusal("  limits: {token_requests_per_s: 1000001}\n"),
            "config.yml:3: server.limits.token_requests_per_s must be an integer from 0 to "
            "1000000; got \"1000001\"");
}

TEST(ServerConfig, a_quorum_is_a_url_or_a_list_of_its_members) {
  for (const std::string stores :
       {"redlock://u:p@a:1/2,v:q@b:2/3,rediss://c", "redis://a, redis://b:1/2,rediss://c",
        "rediss://me:p@a,b,c/1", "memory:a,memory:b,memory:c"}) {
    const auto options = loaded(fmt::format(
        "  store: \"redlock://u:p@a/1,b,c\"\n  patterns: {{redlock: {{store: \"{}\"}}}}\n",
        stores));
    EXPECT_EQ(options.patterns.redlock_store, stores);
    EXPECT_EQ(options.store, "redlock://u:p@a/1,b,c");
  }
  for (const std::string stores : {"redlock://a,u:s3cret@b:x,c", "redis://a, redis://u:s3cret@b:x",
                                   "redlock://u:s3,cret@a:x,b"}) {
    const auto reason =
        section_refusal(fmt::format("  patterns: {{redlock: {{store: \"{}\"}}}}\n", stores));
    EXPECT_NE(reason.find("server.patterns.redlock.store"), std::string::npos) << reason;
    EXPECT_EQ(reason.find("cret"), std::string::npos) << reason;
    EXPECT_EQ(reason.find("s3"), std::string::npos) << reason;
  }
}

TEST(ServerConfig, a_bad_value_is_refused_with_its_line_and_the_rule) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"thread: 1", "server has the unknown key \"thread\""},
      {"limits: {max_bodies: 1}", "server.limits has the unknown key \"max_bodies\""},
      {"tls: {verify: none}", "server.tls has the unknown key \"verify\""},
      {"log: {colour: red}", "server.log has the unknown key \"colour\""},
      {"patterns: {redlock: {url: x}}", "server.patterns.redlock has the unknown key \"url\""},
      {R"("\e[31m": 1)", R"(server has the unknown key "\x1b[31m")"},
      {"threads: 0", "server.threads must be an integer from 1 to 64; got \"0\""},
      {"threads: 65", "server.threads must be an integer from 1 to 64; got \"65\""},
      {"threads: auto", "server.threads must be an integer from 1 to 64; got \"auto\""},
      {"threads:", "server.threads must be an integer from 1 to 64; got something else"},
      {"threads: [1]", "server.threads must be an integer from 1 to 64; got something else"},
      {"drain: 301s", "server.drain must be from 0s to 5m; got \"301s\""},
      {"drain: 10", "server.drain must be from 0s to 5m: duration \"10\" has no unit"},
      {"drain: 1m30s", "server.drain must be from 0s to 5m: duration \"1m30s\" has more"},
      {"listen: 3009", "server.listen: \"3009\" must be ADDRESS:PORT"},
      {R"(listen: ["127.0.0.1:3009", "x:1"])", "server.listen: \"x:1\" must begin with an IP"},
      {"listen: {a: b}", "server.listen must be a text that is not empty"},
      {"listen: [[a]]", "server.listen[0] must be a text that is not empty"},
      {"store: nonsense", "server.store: URL \"nonsense\" is malformed"},
      {"store: redis://:s3cret@h:x", "server.store: URL \"redis://:***@h:x\""},
      {"threads: redis://:s3cret@h", "server.threads must be an integer from 1 to 64; got \"redis"},
      {"tls: certificate.pem", "server.tls must have the form KEY: VALUE"},
      {"tls: {key: ''}", "server.tls.key must be a text that is not empty"},
      {"tls: {clients: maybe}",
       "server.tls.clients must be off or optional or required; got \"maybe\""},
      {R"(token_file: "a\nb")",
       "server.token_file must be a text that is not empty, without control"},
      {"insecure_without_tls: yes",
       "server.insecure_without_tls must be true or false; got \"yes\""},
      {"insecure_without_auth: 1", "server.insecure_without_auth must be true or false; got \"1\""},
      {"log: {format: xml}", "server.log.format must be text or json; got \"xml\""},
      {"log: {level: trace}", "server.log.level must be debug or info or warning or error"},
      {"deadlock_victim: oldest",
       "server.deadlock_victim must be none or youngest; got \"oldest\""},
      {"audit: {max_file_bytes: 1KiB}",
       "server.audit.max_file_bytes must be a size from 64KiB to 1024GiB; got \"1KiB\""},
      {"audit: {max_file_bytes: 64kb}",
       "size \"64kb\" must be an integer, perhaps with KiB, MiB or GiB"},
      {"audit: {kept_files: 1001}", "server.audit.kept_files must be an integer from 0 to 1000"},
      {"allowed_hosts: ['*']", "server.allowed_hosts: \"*\" must be a host as requests name it"},
      {"allowed_hosts: [a/b]", "server.allowed_hosts: \"a/b\" must be a host"},
      {"allowed_origins: '*'",
       "server.allowed_origins: \"*\" must be an origin as browsers send it"},
      {"allowed_origins: 'null'", "server.allowed_origins: \"null\" must be an origin"},
      {"allowed_origins: https://a.org/",
       "server.allowed_origins: \"https://a.org/\" must be an origin"},
      {"allowed_origins: https://A.org", "must be an origin as browsers send it"},
      {"allowed_origins: ftp://a.org", "must be an origin as browsers send it"},
      {"allowed_origins: https://me@a.org", "must be an origin as browsers send it"},
      {"patterns: {ttl: 1ms}", "server.patterns.ttl must be from 20ms to 1d; got \"1ms\""},
      {"patterns: {max_duration: 25h}", "server.patterns.max_duration must be from 0s to 1d"},
      {"patterns: {upstreams: {a: ftp://h}}",
       "server.patterns.upstreams.a: \"ftp://h\" must be an http:// or https:// URL with a host"},
      {"patterns: {upstreams: {a: 'http://'}}", "must be an http:// or https:// URL with a host"},
      {"patterns: {upstreams: {a: 'http://me:s3cret@'}}", "must be an http:// or https://"},
      {"patterns: {upstreams: {a/b: 'http://h'}}", "\"a/b\" must be a name of 1 to 64 letters"},
      {"idempotency: {ttl: 0s}", "server.idempotency.ttl must be from 1s to 31d; got \"0s\""},
      {"idempotency: {guard: 99ms}", "server.idempotency.guard must be from 100ms to 1d"},
      {"idempotency: {take_over: maybe}",
       "server.idempotency.take_over must be refuse or run; got \"maybe\""},
      {"idempotency: {keep: 1h}", "server.idempotency has the unknown key \"keep\""},
      {"patterns: {upstreams: [a]}", "server.patterns.upstreams must have the form KEY: VALUE"},
  };
  for (const auto& [line, rule] : cases) {
    SCOPED_TRACE(line);
    const auto said = section_refusal("  " + line + "\n");
    EXPECT_TRUE(said.starts_with("config.yml:3: ")) << said;
    EXPECT_NE(said.find(rule), std::string::npos) << said;
    EXPECT_EQ(said.find("s3cret"), std::string::npos) << said;
  }
}

TEST(ServerConfig, an_error_names_the_line_in_the_whole_file) {
  EXPECT_EQ(section_refusal("  threads: 2\n  drain: 1s\n  limits:\n    max_headers: 1\n"),
            "config.yml:6: server.limits.max_headers must be an integer from 4 to 1000; got \"1\"");
  EXPECT_EQ(section_refusal("  threads: 2\n  nonsense:\n    a: b\n"),
            "config.yml:4: server has the unknown key \"nonsense\"");
}

TEST(Size, is_an_integer_with_or_without_a_unit) {
  EXPECT_EQ(parse_size("0"), 0U);
  EXPECT_EQ(parse_size("65536"), 65536U);
  EXPECT_EQ(parse_size("64KiB"), 65536U);
  EXPECT_EQ(parse_size("3MiB"), 3U << 20U);
  EXPECT_EQ(parse_size("1GiB"), 1U << 30U);
  for (const auto* text : {"", "KiB", "64 KiB", "64kib", "64KB", "1.5MiB", "-1", "-1KiB", "+1",
                           "18446744073709551616", "99999999999999999GiB", "1KiBKiB"}) {
    EXPECT_FALSE(parse_size(text)) << text;
  }
  for (const std::uint64_t bytes : {0UL, 1UL, 1023UL, 1024UL, 1025UL, 1UL << 40U}) {
    EXPECT_EQ(parse_size(format_size(bytes)), bytes);
  }
}

}  // namespace
}  // namespace holdfast::server
