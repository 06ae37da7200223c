// SPDX-License-Identifier: Apache-2.0
#include "backends/remote/protocol.hpp"

#include "text/json_parse.hpp"

#include <boost/json/serialize.hpp>
#include <gtest/gtest.h>

namespace holdfast::backends::remote {
namespace {

using namespace std::chrono_literals;
using model::RequestId;

// As it would arrive.
template <typename T>
boost::json::object over_the_wire(const T& what) {
  return text::parse_json(boost::json::serialize(to_json(what))).value().get_object();
}

Question question_of(model::Command command) {
  return {LockName::make("orders:\xe2\x9c\x93").value(), std::move(command), "stream-1", 250ms};
}

template <typename Verb>
Verb round_trip(Verb verb, model::LockSpec spec = model::LockSpec::mutex()) {
  const auto back =
      parse_question(over_the_wire(question_of(model::LockCommand{spec, std::move(verb)})));
  EXPECT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->name.str(), "orders:\xe2\x9c\x93");
  EXPECT_EQ(back->stream, "stream-1");
  EXPECT_EQ(back->timeout, 250ms);
  const auto& command = std::get<model::LockCommand>(back->command);
  EXPECT_EQ(command.spec, spec);
  return std::get<Verb>(command.verb);
}

const OwnerId anna = OwnerId::make("anna").value();

TEST(RemoteProtocol, an_acquire_arrives_with_every_field) {
  const auto process = std::make_shared<const ProcessInfo>(ProcessInfo{"host", "prog", 42, 1234});
  const model::Acquire sent{
      .owner = anna,
      .request = RequestId{UINT64_MAX},
      .permits = 3,
      .ttl = 1234567us,
      .wait = true,
      .place = UINT64_MAX - 1,
      .claim = 77ms,
      .converts = RequestId{1ULL << 63U},
      .known = UINT64_MAX - 2,
      .metadata = std::make_shared<const Metadata>(Metadata{process, "a.cpp:1", "n\n\"", "v"})};
  const auto got = round_trip(sent, model::LockSpec::semaphore(7, Order::fifo));
  EXPECT_EQ(got.owner, sent.owner);
  EXPECT_EQ(got.request, sent.request);
  EXPECT_EQ(got.permits, sent.permits);
  EXPECT_EQ(got.ttl, sent.ttl);
  EXPECT_EQ(got.wait, sent.wait);
  EXPECT_EQ(got.place, sent.place);
  EXPECT_EQ(got.claim, sent.claim);
  EXPECT_EQ(got.converts, sent.converts);
  EXPECT_EQ(got.known, sent.known);
  ASSERT_NE(got.metadata, nullptr);
  EXPECT_EQ(*got.metadata->process, *process);
  EXPECT_EQ(got.metadata->source, "a.cpp:1");
  EXPECT_EQ(got.metadata->note, "n\n\"");
  EXPECT_EQ(got.metadata->value, "v");
}

TEST(RemoteProtocol, the_other_commands_arrive_with_every_field) {
  const auto renew = round_trip(model::Renew{anna, RequestId{9}, 3s});
  EXPECT_EQ(renew.owner, anna);
  EXPECT_EQ(renew.request, RequestId{9});
  EXPECT_EQ(renew.ttl, 3s);
  const auto release = round_trip(model::Release{anna, RequestId{9}, true});
  EXPECT_EQ(release.request, RequestId{9});
  EXPECT_TRUE(release.only_unconfirmed);
  EXPECT_EQ(round_trip(model::Inspect{anna}).owner, anna);
  EXPECT_FALSE(round_trip(model::Inspect{}).owner);
  EXPECT_EQ(round_trip(model::ForceRelease{}).up_to, UINT64_MAX);
  const auto check = parse_question(over_the_wire(question_of(model::GuardCommand{1, 2h})));
  EXPECT_EQ(std::get<model::GuardCommand>(check->command).keep, 2h);
}

TEST(RemoteProtocol, a_release_by_owner_arrives_with_its_fence) {
  const model::Release sent{.owner = anna, .up_to = 1'763'000'000'000'007};
  EXPECT_EQ(round_trip(sent).up_to, 1'763'000'000'000'007U);
  EXPECT_EQ(round_trip(model::Release{.owner = anna}).up_to, UINT64_MAX);
  // A client of an older version does not say it, and means everything that the owner holds.
  auto without = to_json(question_of(model::LockCommand{{}, sent}));
  without.erase("up_to");
  const auto question = parse_question(without);
  ASSERT_TRUE(question) << question.error().message;
  const auto& verb = std::get<model::LockCommand>(question->command).verb;
  EXPECT_EQ(std::get<model::Release>(verb).up_to, UINT64_MAX);
}

TEST(RemoteProtocol, a_forced_release_arrives_with_its_source_under_a_verb_of_its_own) {
  EXPECT_EQ(to_json(question_of(model::LockCommand{{}, model::ForceRelease{}})).at("verb"),
            "force");
  const model::ForceRelease sent{.up_to = 7, .source = "execution-7"};
  EXPECT_EQ(to_json(question_of(model::LockCommand{{}, sent})).at("verb").as_string(),
            "force_source")
      << "an older server would end every lease";
  const auto got = round_trip(sent);
  EXPECT_EQ(got.up_to, 7U);
  EXPECT_EQ(got.source, "execution-7");
  EXPECT_EQ(round_trip(model::ForceRelease{}).source, "");
  auto without = to_json(question_of(model::LockCommand{{}, sent}));
  without.erase("source");
  const auto refused = parse_question(without);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "source: must not be empty");
}

TEST(RemoteProtocol, a_rate_command_arrives_with_every_field) {
  using Verb = model::RateCommand::Verb;
  for (const auto verb : {Verb::check, Verb::peek, Verb::reset}) {
    for (const auto algorithm : {RateAlgorithm::fixed_window, RateAlgorithm::sliding_window,
                                 RateAlgorithm::token_bucket}) {
      for (const auto layout : {RateLayout::native, RateLayout::n8n, RateLayout::redisx}) {
        const model::RateCommand sent{
            verb, {algorithm, max_rate_limit, max_rate_window, 77, layout}, 999'999'999};
        const auto back = parse_question(over_the_wire(question_of(sent)));
        ASSERT_TRUE(back) << back.error().message;
        const auto& got = std::get<model::RateCommand>(back->command);
        EXPECT_EQ(got.verb, sent.verb);
        EXPECT_EQ(got.rule, sent.rule);
        EXPECT_EQ(got.cost, sent.cost);
      }
    }
  }
}

TEST(RemoteProtocol, a_rate_command_that_is_none_is_refused_by_field) {
  const auto refusal = [](std::string_view field, boost::json::value value) {
    auto object = to_json(question_of(model::RateCommand{.rule = {.limit = 1, .window = 1s}}));
    (field == "rule" || field == "cost" ? object : object.at("rule").as_object())[field] = value;
    const auto read = parse_question(object);
    return read ? std::string("none") : read.error().message;
  };
  EXPECT_EQ(refusal("cost", 5), "none");
  EXPECT_EQ(refusal("rule", nullptr), "rule: must be there");
  EXPECT_TRUE(refusal("rule", 7).starts_with("rule: "));
  EXPECT_EQ(refusal("algorithm", "leaky"), "rule: algorithm: must be a known one");
  EXPECT_EQ(refusal("layout", ""), "rule: layout: must be a known one");
  EXPECT_TRUE(refusal("limit", -1).starts_with("rule: limit: "));
  EXPECT_TRUE(refusal("limit", 4294967296).starts_with("rule: limit: "));
  EXPECT_TRUE(refusal("window_us", "soon").starts_with("rule: window_us: "));
  EXPECT_TRUE(refusal("burst", 1.5).starts_with("rule: burst: "));
  EXPECT_TRUE(refusal("cost", -1).starts_with("cost: "));
}

TEST(RemoteProtocol, what_a_rate_limit_says_comes_back_as_it_was) {
  const RateOutcome sent{.allowed = true,
                         .count = UINT64_MAX,
                         .limit = UINT32_MAX,
                         .remaining = UINT32_MAX - 1,
                         .retry_after = max_rate_window,
                         .reset_after = 1us};
  const RateOutcome denied{.limit = 1, .retry_after = 1us};
  for (const auto& each : {sent, denied}) {
    const auto back = parse_reply(over_the_wire(store::Reply{.at = {}, .outcome = each}));
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(std::get<RateOutcome>(back->outcome), each);
  }
}

TEST(RemoteProtocol, an_answer_that_would_make_a_waiter_ask_without_end_is_no_answer) {
  const auto refusal = [](const RateOutcome& sent) {
    const auto back = parse_reply(over_the_wire(store::Reply{.at = {}, .outcome = sent}));
    return back ? std::string("none") : back.error().message;
  };
  EXPECT_EQ(refusal({.allowed = true}), "none");
  for (const auto wait : {0us, -1us, Micros::min(), Micros::max()}) {
    EXPECT_EQ(refusal({.allowed = false, .retry_after = wait}),
              "retry_after_us: must be from 1 to 2^52 where it is not allowed");
  }
}

template <typename T>
T outcome_round_trip(T outcome) {
  const store::Reply reply{.at = model::StoreTime(123456789us),
                           .outcome = model::LockOutcome{std::move(outcome)}};
  const auto back = parse_reply(over_the_wire(reply));
  EXPECT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->at, reply.at);
  return std::get<T>(std::get<model::LockOutcome>(back->outcome));
}

TEST(RemoteProtocol, every_outcome_comes_back_as_it_was) {
  const auto granted = outcome_round_trip(model::Granted{UINT64_MAX, 5us});
  EXPECT_EQ(granted.fence, UINT64_MAX);
  EXPECT_EQ(granted.remaining, 5us);
  EXPECT_FALSE(granted.held_for) << "older servers do not tell";
  EXPECT_EQ(outcome_round_trip(model::Granted{1, 5us, 0us}).held_for, Micros::zero());
  EXPECT_EQ(outcome_round_trip(model::Granted{1, 5us, 7us}).held_for, Micros(7));
  const auto queued = outcome_round_trip(model::Queued{UINT64_MAX, 3, 7ms});
  EXPECT_EQ(queued.place, UINT64_MAX);
  EXPECT_EQ(queued.ahead, 3U);
  EXPECT_EQ(queued.retry_after, 7ms);
  EXPECT_FALSE(outcome_round_trip(model::Released{false}).lease);
  EXPECT_TRUE(outcome_round_trip(model::Released{true}).lease);
  outcome_round_trip(model::NotHeld{});
  outcome_round_trip(model::NotOwner{});
  const auto forced = outcome_round_trip(model::Forced{8, 2});
  EXPECT_EQ(forced.fence, 8U);
  EXPECT_EQ(forced.count, 2U);
  const auto refused =
      outcome_round_trip(model::Refused{{Errc::spec_mismatch, "it is a semaphore"}});
  EXPECT_EQ(refused.error.code, Errc::spec_mismatch);
  EXPECT_EQ(refused.error.message, "it is a semaphore");
  const HolderView holder{.fence = 1,
                          .party = UINT64_MAX,
                          .permits = 2,
                          .claimed = true,
                          .remaining = 3us,
                          .held_for = 4us,
                          .metadata = nullptr};
  const auto busy = outcome_round_trip(model::Busy{1us, 1, {holder}, 3, 5});
  EXPECT_EQ(busy.held_by_members, 3U);
  EXPECT_EQ(busy.members, 5U);
  EXPECT_EQ(busy.holders.at(0).party, UINT64_MAX);
  EXPECT_TRUE(busy.holders.at(0).claimed);
}

TEST(RemoteProtocol, what_is_seen_of_a_lock_comes_back_as_it_was) {
  LockView lock{.name = "orders:42",
                .kind = Kind::read_write,
                .capacity = all_permits,
                .order = Order::barging};
  lock.holders.push_back({.fence = 5, .party = 6, .permits = 1});
  lock.waiters.push_back({.party = 7, .permits = all_permits, .waiting_for = 8us});
  const auto seen = outcome_round_trip(model::Seen{lock, model::Granted{5, 9us}});
  EXPECT_EQ(seen.lock.name, lock.name);
  EXPECT_EQ(seen.lock.kind, lock.kind);
  EXPECT_EQ(seen.lock.capacity, lock.capacity);
  EXPECT_EQ(seen.lock.order, lock.order);
  EXPECT_EQ(seen.lock.holders.at(0).fence, 5U);
  EXPECT_EQ(seen.lock.waiters.at(0).waiting_for, 8us);
  EXPECT_EQ(seen.mine->remaining, 9us);
}

TEST(RemoteProtocol, the_members_of_a_quorum_come_back_as_they_were) {
  LockView lock{.name = "orders:42"};
  lock.members.push_back({.address = "a:1",
                          .state = MemberView::State::held,
                          .fence = UINT64_MAX,
                          .party = UINT64_MAX - 1,
                          .holders = 2,
                          .remaining = 7us});
  lock.members.push_back({.address = "b:2",
                          .state = MemberView::State::too_slow,
                          .counts = false,
                          .reason = "no answer"});
  const auto members = outcome_round_trip(model::Seen{lock, std::nullopt}).lock.members;
  ASSERT_EQ(members.size(), 2U);
  EXPECT_EQ(members[0].address, "a:1");
  EXPECT_EQ(members[0].state, MemberView::State::held);
  EXPECT_TRUE(members[0].counts);
  EXPECT_EQ(members[0].fence, UINT64_MAX);
  EXPECT_EQ(members[0].party, UINT64_MAX - 1);
  EXPECT_EQ(members[0].holders, 2U);
  EXPECT_EQ(members[0].remaining, 7us);
  EXPECT_EQ(members[1].state, MemberView::State::too_slow);
  EXPECT_FALSE(members[1].counts);
  EXPECT_EQ(members[1].reason, "no answer");
}

TEST(RemoteProtocol, a_line_of_a_stream_comes_back_as_it_was) {
  const Line sent{LockName::make("orders:42").value(),
                  {.owner = anna,
                   .request = RequestId{UINT64_MAX},
                   .grant = model::Grant{UINT64_MAX, model::StoreTime(5us), 6us}}};
  const auto got = parse_line(over_the_wire(sent));
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->message.request, RequestId{UINT64_MAX});
  EXPECT_EQ(got->message.grant->fence, UINT64_MAX);
  EXPECT_EQ(got->message.grant->at, model::StoreTime(5us));
  EXPECT_EQ(got->message.grant->lease, 6us);
}

TEST(RemoteProtocol, nonsense_is_refused_with_the_field) {
  for (const auto& [text, field] :
       {std::pair{R"({"name":"x","verb":"dance"})", "verb"},
        std::pair{R"({"name":"x","verb":"renew","owner":"o","request":-1,"ttl_us":1})", "request"},
        std::pair{R"({"name":"x","verb":"renew","owner":"o","request":"1x","ttl_us":1})",
                  "request"},
        std::pair{R"({"name":"x","verb":"renew","owner":"o","request":1.5,"ttl_us":1})", "request"},
        std::pair{R"({"name":"x","verb":"renew","owner":"o","ttl_us":"1s"})", "ttl_us"},
        std::pair{R"({"name":"x","verb":"acquire","owner":"","ttl_us":1})", "owner"},
        std::pair{R"({"name":"x","verb":"acquire","owner":"o","permits":4294967296})", "permits"},
        std::pair{R"({"name":"x","verb":"acquire","owner":"o","metadata":[]})", "metadata"},
        std::pair{R"({"name":"x","verb":"inspect","spec":{"kind":"rope","order":"fifo"}})",
                  "kind"}}) {
    const auto parsed = parse_question(text::parse_json(text).value().get_object());
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, Errc::bad_input);
    EXPECT_NE(parsed.error().message.find(field), std::string::npos) << parsed.error().message;
  }
}

}  // namespace
}  // namespace holdfast::backends::remote
