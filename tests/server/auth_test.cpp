// SPDX-License-Identifier: Apache-2.0
//
// Principals, bearer tokens, and how often one may ask.
#include "server/auth/bearer.hpp"
#include "server/auth/principal.hpp"
#include "server/auth/request_rate.hpp"
#include "text/rfc3339.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace holdfast::server {
namespace {

using namespace std::chrono_literals;

Principal with(Verbs verbs, std::vector<std::string> prefixes = {}) {
  Principal principal;
  principal.name = "somebody";
  principal.verbs = verbs;
  principal.prefixes = std::move(prefixes);
  return principal;
}

TEST(Principal, admin_implies_lock_and_lock_implies_read) {
  EXPECT_TRUE(with({Verb::read}).may(Verb::read));
  EXPECT_FALSE(with({Verb::read}).may(Verb::lock));
  EXPECT_TRUE(with({Verb::lock}).may(Verb::read));
  EXPECT_FALSE(with({Verb::lock}).may(Verb::admin));
  EXPECT_TRUE(with({Verb::admin}).may(Verb::lock));
  EXPECT_FALSE(with({}).may(Verb::read));
  EXPECT_EQ(to_string(Verbs{Verb::admin}), "read,lock,admin");
  EXPECT_EQ(to_string(Verbs{Verb::lock}), "read,lock");
}

TEST(Principal, reaches_no_name_beyond_its_prefixes) {
  const auto bot = with({Verb::lock}, {"deploy:", "cron:"});
  EXPECT_TRUE(bot.may(Verb::lock, "deploy:web"));
  EXPECT_TRUE(bot.may(Verb::read, "cron:"));
  EXPECT_FALSE(bot.may(Verb::admin, "deploy:web"));
  for (const auto* name : {"", "deploy", "Deploy:web", "xdeploy:web", "cron", " deploy:web"}) {
    EXPECT_FALSE(bot.may(Verb::read, name)) << name;
  }
}

TEST(Principal, without_prefixes_reaches_every_name) {
  EXPECT_TRUE(with({Verb::read}).may(Verb::read, "anything"));
  EXPECT_FALSE(with({Verb::read}).may(Verb::lock, "anything"));
}

TEST(Principal, everybody_may_do_everything) {
  const auto& everybody = *Principal::everybody();
  EXPECT_EQ(everybody.name, "anonymous");
  EXPECT_TRUE(everybody.may(Verb::admin, "anything"));
  EXPECT_EQ(everybody.secret_hash, SecretHash{});
  EXPECT_EQ(Principal::everybody(), Principal::everybody());
}

TEST(Bearer, reads_the_token_behind_the_scheme) {
  EXPECT_EQ(bearer_token("Bearer hf_abc-DEF_123"), "hf_abc-DEF_123");
  EXPECT_EQ(bearer_token("bearer a.b~c+d/e=="), "a.b~c+d/e==");
  EXPECT_EQ(bearer_token("BEARER   x"), "x");
}

TEST(Bearer, takes_nothing_else) {
  using std::string_view_literals::operator""sv;
  for (const auto header : {""sv,           "Bearer"sv,       "Bearer "sv,
                            " Bearer x"sv,  "Bearer x "sv,    "Bearer x y"sv,
                            "Bearer\tx"sv,  "Bearer =x"sv,    "Bearer ="sv,
                            "Bearer x=y"sv, "Basic x"sv,      "Bearerx"sv,
                            "Bearers x"sv,  "Bearer x,"sv,    R"(Bearer "x")"sv,
                            "Bearer x\0"sv, "Bearer x\r\n"sv, "Bearer \xc3\xa4"sv,
                            "x"sv,          "Bearer: x"sv,    "Bearer x, Bearer y"sv}) {
    EXPECT_EQ(bearer_token(header), std::nullopt) << header;
  }
}

TEST(Rfc3339, is_read_in_every_zone) {
  const text::WallTime noon = std::chrono::sys_days(std::chrono::year(2027) / 1 / 31) + 12h;
  EXPECT_EQ(text::parse_rfc3339("2027-01-31T12:00:00Z"), noon);
  EXPECT_EQ(text::parse_rfc3339("2027-01-31T13:30:00+01:30"), noon);
  EXPECT_EQ(text::parse_rfc3339("2027-01-31T04:00:00.250-08:00"), noon + 250ms);
  EXPECT_EQ(text::parse_rfc3339("2027-01-31T12:00:00.123456789Z"), noon + 123456us);
}

TEST(Rfc3339, refuses_what_is_no_time) {
  for (const auto* text : {"",
                           "2027",
                           "2027-01-31",
                           "2027-01-31T12:00:00",
                           "2027-01-31 12:00:00Z",
                           "2027-01-31t12:00:00z",
                           "2027-02-29T12:00:00Z",
                           "2027-13-01T12:00:00Z",
                           "2027-00-10T12:00:00Z",
                           "2027-01-31T24:00:00Z",
                           "2027-01-31T12:60:00Z",
                           "2027-01-31T12:00:60Z",
                           "2027-01-31T12:00:00.Z",
                           "2027-01-31T12:00:00.1234567890Z",
                           "2027-01-31T12:00:00Zx",
                           "2027-01-31T12:00:00+1:00",
                           "2027-1-31T12:00:00Z",
                           "-027-01-31T12:00:00Z",
                           "2027-01-31T12:00:00+24:00",
                           "99999-01-31T12:00:00Z"}) {
    EXPECT_EQ(text::parse_rfc3339(text), std::nullopt) << text;
  }
}

runtime::LocalTime at(std::chrono::nanoseconds time) { return runtime::LocalTime(time); }

int taken_at_once(RequestRate& rate, runtime::LocalTime now) {
  int count = 0;
  while (rate.take(now) == 0ns) ++count;
  return count;
}

TEST(RequestRate, gives_two_seconds_worth_at_once_and_then_its_rate) {
  RequestRate rate(10);
  EXPECT_EQ(taken_at_once(rate, at(1h)), 20);
  EXPECT_EQ(rate.take(at(1h)), 100ms);
  EXPECT_EQ(rate.take(at(1h + 99ms)), 1ms);
  EXPECT_EQ(taken_at_once(rate, at(1h + 100ms)), 1);
  EXPECT_EQ(taken_at_once(rate, at(1h + 1100ms)), 10);
  EXPECT_EQ(taken_at_once(rate, at(2h)), 20) << "it holds no more, however long nobody asked";
}

TEST(RequestRate, a_refusal_costs_nothing) {
  RequestRate rate(1);
  EXPECT_EQ(taken_at_once(rate, at(1h)), 2);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(rate.take(at(1h)), 1s);
  EXPECT_EQ(rate.take(at(1h + 1s)), 0ns);
}

TEST(RequestRate, zero_is_no_limit) {
  RequestRate rate(0);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(rate.take(at(0s)), 0ns);
}

TEST(RequestRate, any_rate_and_any_clock_are_fine) {
  for (const std::uint32_t each : {1U, 3U, 7U, 999'999U, max_requests_per_s}) {
    RequestRate rate(each);
    const auto count = taken_at_once(rate, at(0s));
    EXPECT_GE(count, static_cast<int>(2 * each));
    EXPECT_LE(count, static_cast<int>(2 * each + each / 1000 + 1));
    EXPECT_GT(rate.take(at(-1h)), 0ns) << "a clock that goes back fills nothing";
  }
  RequestRate beyond(4'000'000'000U);
  EXPECT_EQ(taken_at_once(beyond, at(0s)), static_cast<int>(2 * max_requests_per_s));
}

TEST(RequestRate, threads_together_get_no_more_than_one) {
  RequestRate rate(500);
  std::atomic<int> taken = 0;
  {
    std::vector<std::jthread> threads;
    threads.reserve(4);
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int n = 0; n < 1000; ++n) taken += rate.take(at(1h)) == 0ns ? 1 : 0;
      });
    }
  }
  EXPECT_EQ(taken, 1000);
}

TEST(RequestRates, each_principal_has_a_bucket_of_its_own) {
  RequestRates rates(1);
  auto one = with({Verb::read});
  auto other = one;
  other.name = "another";
  EXPECT_EQ(rates.take(one, at(1h)), 0ns);
  EXPECT_EQ(rates.take(one, at(1h)), 0ns);
  EXPECT_EQ(rates.take(one, at(1h)), 1s);
  EXPECT_EQ(rates.take(other, at(1h)), 0ns);
  auto reloaded = one;
  reloaded.verbs = {Verb::admin};
  EXPECT_EQ(rates.take(reloaded, at(1h)), 1s) << "the same name is the same bucket";
}

}  // namespace
}  // namespace holdfast::server
