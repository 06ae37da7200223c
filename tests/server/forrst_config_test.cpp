// SPDX-License-Identifier: Apache-2.0
//
// server.forrst of a configuration file.
#include "config_fixture.hpp"
#include "forrst_fixture.hpp"
#include "server/config_forrst.hpp"

namespace holdfast::server {
namespace {

using namespace std::chrono_literals;

const std::string before_forrst = "server:\n  forrst:\n";

Result<ServerOptions> load_forrst(const std::string& lines) {
  return options_in(before_forrst + lines);
}

std::string forrst_refusal(const std::string& lines) { return refusal_of(before_forrst + lines); }

// Of a function with this beside its name and its work.
std::string function_refusal(const std::string& rest) {
  return forrst_refusal(fmt::format("    functions:\n      - {{{}}}\n", rest));
}

constexpr auto every_setting = R"(    store: memory:elsewhere
    name: billing
    node: eu-1
    prefix: "app:"
    status_owner: admin
    strict_extensions: true
    rate_limit: 100/s
    socket: /run/holdfast/forrst.sock
    socket_verbs: [read, admin]
    command_threads: 3
    functions:
      - name: payments.charge
        version: 2.1.0
        description: Charges a card.
        upstream: https://billing.example:8443/charge?x=1
        timeout: 5s
        arguments:
          amount: {type: integer, required: true, minimum: 1, maximum: 1000.5, description: in cents}
          currency: {type: string, one_of: [EUR, USD], default: EUR, min_length: 3, max_length: 3}
          tags: {type: array, default: [a, 1, true, "2"]}
        allow_more: false
        side_effects: [create, update]
        deprecated: {reason: use v3, sunset: 2027-01-31}
        extensions: {excluded: [idempotency]}
        rate_limit: 10/m
        safe_to_repeat: true
        disabled: true
      - {name: reports.make, command: [/usr/bin/env, "a b", $HOME]}
)";

TEST(ForrstConfig, is_read_with_all_its_keys) {
  const auto options = load_forrst(every_setting);
  ASSERT_TRUE(options) << options.error().message;
  const auto& forrst = options->forrst;
  EXPECT_EQ(forrst.store, "memory:elsewhere");
  EXPECT_EQ(forrst.name, "billing");
  EXPECT_EQ(forrst.node, "eu-1");
  EXPECT_EQ(forrst.prefix, "app:");
  EXPECT_EQ(forrst.status_owner, forrst::ShowOwner::admin);
  EXPECT_TRUE(forrst.strict_extensions);
  EXPECT_EQ(forrst.rate_limit, (RateRule{.limit = 100, .window = 1s}));
  EXPECT_EQ(forrst.socket, "/run/holdfast/forrst.sock");
  EXPECT_TRUE(forrst.socket_verbs.has(Verb::admin));
  EXPECT_EQ(forrst.command_threads, 3U);
  ASSERT_EQ(forrst.functions.size(), 2U);
  EXPECT_EQ(forrst.functions[1].command,
            (std::vector<std::string>{"/usr/bin/env", "a b", "$HOME"}));
  EXPECT_TRUE(check(*options));
}

TEST(ForrstConfig, a_function_is_read_with_all_its_keys) {
  const auto options = load_forrst(every_setting);
  ASSERT_TRUE(options) << options.error().message;
  const auto& function = options->forrst.functions[0];
  EXPECT_EQ(function.upstream, "https://billing.example:8443/charge?x=1");
  EXPECT_TRUE(function.command.empty());
  const auto& about = function.about;
  EXPECT_EQ(about.name, "payments.charge");
  EXPECT_EQ(about.version, "2.1.0");
  EXPECT_EQ(about.description, "Charges a card.");
  EXPECT_EQ(about.timeout, 5s);
  EXPECT_FALSE(about.allows_more);
  EXPECT_EQ(about.side_effects, (std::vector<std::string>{"create", "update"}));
  ASSERT_TRUE(about.deprecated);
  EXPECT_EQ(about.deprecated->reason, "use v3");
  EXPECT_EQ(about.deprecated->sunset, "2027-01-31");
  EXPECT_EQ(about.excluded_extensions, std::vector<std::string>{"idempotency"});
  EXPECT_EQ(about.rate_limit, (RateRule{.limit = 10, .window = 1min}));
  EXPECT_TRUE(about.safe_to_repeat);
  EXPECT_TRUE(about.is_disabled);
  ASSERT_EQ(about.arguments.size(), 3U);
  const auto& amount = about.arguments[0];
  EXPECT_EQ(amount.name, "amount");
  EXPECT_EQ(amount.type, forrst::Rule::Type::integer);
  EXPECT_TRUE(amount.is_required);
  EXPECT_EQ(amount.minimum, 1);
  EXPECT_EQ(amount.maximum, 1000.5);
  EXPECT_EQ(amount.description, "in cents");
  const auto& currency = about.arguments[1];
  EXPECT_EQ(currency.one_of, (std::vector<std::string>{"EUR", "USD"}));
  EXPECT_EQ(currency.by_default, boost::json::value("EUR"));
  EXPECT_EQ(currency.min_length, 3U);
  EXPECT_EQ(currency.max_length, 3U);
  // Quotes make a text of what would be a number.
  EXPECT_EQ(boost::json::serialize(*about.arguments[2].by_default), R"(["a",1,true,"2"])");
}

TEST(ForrstConfig, keys_of_the_section_are_refused_with_their_line_and_the_rule) {
  const std::pair<std::string, std::string> cases[] = {
      {"stroe: x", "config.yml:3: server.forrst has the unknown key \"stroe\""},
      {"store: nothing", "config.yml:3: server.forrst.store: "},
      {"prefix: \"a b:\"", "config.yml:3: server.forrst.prefix: must be 1 to 64 letters"},
      {"prefix: lock", "and end in a colon"},
      {"status_owner: never", "server.forrst.status_owner must be auto or always or admin"},
      {"strict_extensions: perhaps", "server.forrst.strict_extensions must be true or false"},
      {"rate_limit: often", "config.yml:3: server.forrst.rate_limit: "},
      {"socket: forrst.sock", "must name a socket by its absolute path"},
      {"socket_verbs: [write]", "must be of read, lock and admin; got \"write\""},
      {"command_threads: 0", "must be an integer from 1 to 256; got \"0\""},
      {"functions: {}", "server.forrst.functions must be a list"},
  };
  for (const auto& [line, rule] : cases) {
    EXPECT_NE(forrst_refusal("    " + line + "\n").find(rule), std::string::npos)
        << line << " gave " << forrst_refusal("    " + line + "\n");
  }
}

TEST(ForrstConfig, bad_functions_are_refused_with_their_line_and_the_rule) {
  const std::string good = "name: a.b, command: cat, ";
  const std::pair<std::string, std::string> cases[] = {
      {"command: cat", "name: must be words"},
      {"name: a b, command: cat", "name: must be words"},
      {"name: forrst.ping, command: cat", "keeps forrst.*"},
      {"name: a.b, version: one, command: cat", "version: must be semantic"},
      {"name: a.b", "needs upstream or command, and not both"},
      {"name: a.b, command: cat, upstream: \"http://x\"", "needs upstream or command"},
      {"name: a.b, upstream: \"ftp://x\"", "upstream: \"ftp://x\" must be an http://"},
      {"name: a.b, command: bin/cat", "must be an absolute path, or a name"},
      {"name: a.b, command: []", "needs upstream or command"},
      {good + "timeout: 2d", "timeout must be from 1ms to 1d"},
      {good + "timeout: 0s", "timeout must be from 1ms to 1d"},
      {good + "arguments: {x: {type: text}}", "arguments.x.type must be any or boolean"},
      {good + "arguments: {x: {minimum: few}}", "arguments.x.minimum must be a number"},
      {good + "arguments: {x: {type: integer, minimum: 2, maximum: 1}}", "x"},
      {good + "arguments: {x: {kind: string}}", "has the unknown key \"kind\""},
      {good + "side_effects: explode", "side_effects: may be create, update and delete"},
      {good + "deprecated: {sunset: 2027-01-01}", "deprecated needs reason"},
      {good + "deprecated: {reason: old, sunset: soon}", "must be a date, such as 2027-01-31"},
      {good + "extensions: {supported: magic}", "there is no extension \"magic\""},
      {good + "extensions: {supported: retry, excluded: retry}", "supported or excluded, not both"},
      {good + "rate_limit: 0/s", "rate_limit"},
      {good + "safe_to_repeat: 1", "must be true or false"},
  };
  for (const auto& [entry, rule] : cases) {
    const auto message = function_refusal(entry);
    EXPECT_TRUE(message.starts_with("config.yml:4: server.forrst.functions[0]")) << message;
    EXPECT_NE(message.find(rule), std::string::npos) << entry << " gave " << message;
  }
}

TEST(ForrstConfig, a_version_stands_there_once) {
  const auto twice = forrst_refusal(
      "    functions:\n"
      "      - {name: a.b, command: cat}\n"
      "      - {name: a.b, version: 2.0.0, command: cat}\n"
      "      - {name: a.b, command: cat}\n");
  EXPECT_TRUE(twice.starts_with("config.yml:6: server.forrst.functions[2]")) << twice;
}

TEST(ForrstConfig, a_default_of_a_million_values_in_ten_lines_is_refused) {
  std::string lines =
      "    functions:\n      - name: a.b\n        command: cat\n        arguments:\n";
  lines += "          a: {default: &a0 [x, x, x, x, x, x, x, x, x, x]}\n";
  for (int each = 1; each < 8; ++each) {
    lines += fmt::format("          a{0}: {{default: &a{0} [", each);
    for (int times = 0; times < 10; ++times) lines += fmt::format("*a{}, ", each - 1);
    lines += "x]}\n";
  }
  EXPECT_NE(forrst_refusal(lines).find("has more than 10000 values"), std::string::npos);
}

TEST(ForrstConfig, options_that_came_from_elsewhere_are_checked_too) {
  ServerOptions options;
  options.listen = {"unix:/run/a.sock"};
  options.forrst.socket = "/run/a.sock";
  auto checked = check(options);
  ASSERT_FALSE(checked);
  EXPECT_NE(checked.error().message.find("is one of listen"), std::string::npos);
  options.forrst.socket.clear();
  options.forrst.functions.push_back({});
  checked = check(options);
  ASSERT_FALSE(checked);
  EXPECT_TRUE(checked.error().message.starts_with("forrst.functions: ")) << checked.error().message;
}

TEST(ForrstConfig, a_program_that_is_not_there_is_a_warning) {
  const auto options = load_forrst(
      "    functions:\n"
      "      - {name: a.b, command: /no/such/program}\n"
      "      - {name: a.c, command: no-such-program-at-all}\n"
      "      - {name: a.d, command: sh}\n");
  ASSERT_TRUE(options) << options.error().message;
  const auto warnings = forrst_warnings(options->forrst);
  ASSERT_EQ(warnings.size(), 2U);
  EXPECT_NE(warnings[0].find("\"/no/such/program\" of a.b is not there"), std::string::npos);
  EXPECT_NE(warnings[1].find("no-such-program-at-all"), std::string::npos);
}

TEST(ForrstConfig, serve_check_finds_bad_functions_and_warns_of_missing_programs) {
  const test::TemporaryFolder folder;
  const auto file = (folder.path() / "config.yml").string();
  const auto run = [&](std::string_view entry) {
    std::ofstream(file) << "server:\n  forrst:\n    functions:\n      - " << entry << "\n";
    return test::run({HOLDFAST_BINARY, "serve", "--config", file, "--store", "memory:", "--check"});
  };
  const auto bad = run("{name: a b, command: cat}");
  EXPECT_EQ(bad.code, 64);
  EXPECT_NE(bad.err.find("config.yml:4: server.forrst.functions[0]"), std::string::npos) << bad.err;
  const auto missing = run("{name: a.b, command: /no/such/program}");
  EXPECT_EQ(missing.code, 0) << missing.err;
  EXPECT_NE(missing.err.find("warning: forrst.functions: the program \"/no/such/program\""),
            std::string::npos)
      << missing.err;
}

}  // namespace
}  // namespace holdfast::server
