// SPDX-License-Identifier: Apache-2.0
//
// Commands about runs and what they come to, as they go between a store and its server.
#include "backends/remote/protocol.hpp"
#include "remote_fixture.hpp"
#include "support/fault_proxy.hpp"
#include "support/runs.hpp"
#include "text/json_parse.hpp"

#include <boost/json/serialize.hpp>

namespace holdfast::test {
namespace {

using backends::remote::parse_question;
using backends::remote::parse_reply;
using backends::remote::Question;
using backends::remote::to_json;
using model::RunCommand;
using model::RunOutcome;

Question question_of(RunCommand command) {
  return {LockName::make("order:42").value(), std::move(command), {}, 250ms};
}

// As it would arrive.
template <typename T>
boost::json::object over_the_wire(const T& what) {
  return text::parse_json(boost::json::serialize(to_json(what))).value().get_object();
}

TEST(RunProtocol, a_command_arrives_with_every_field) {
  const Answer any{.status = 599, .headers = "{\"a\":\"\\u0000\"}", .body = "\xff\x00{}\x80"};
  for (const auto& sent :
       {begin_as("ann", "f\n\""), begin_or_refuse_as("ann"), renew_as("ann", max_guard),
        complete_as("ann", any, "f"), complete_as("ann"), fail_as("ann", "why \xe2\x82\xac", 0us),
        abandon_as("ann"), look_at_run(), forget_run()}) {
    const auto back = parse_question(over_the_wire(question_of(sent)));
    ASSERT_TRUE(back) << back.error().message;
    const auto& got = std::get<RunCommand>(back->command);
    EXPECT_EQ(got.verb, sent.verb);
    EXPECT_EQ(got.owner, sent.owner);
    EXPECT_EQ(got.fingerprint, sent.fingerprint);
    EXPECT_EQ(got.guard, sent.guard);
    EXPECT_EQ(got.keep, sent.keep);
    EXPECT_EQ(got.takes_over, sent.takes_over);
    EXPECT_EQ(got.answer, sent.answer);
    EXPECT_EQ(got.failure, sent.failure);
  }
}

TEST(RunProtocol, what_it_came_to_comes_back_as_it_was) {
  const RunOutcome all[] = {
      {},
      {.done = true, .found = RunFound::abandoned, .fence = UINT64_MAX, .remaining = 7us},
      {.found = RunFound::completed,
       .fence = 7,
       .answer = {.status = 201, .headers = "{}", .body = std::string(1000, '\xff')}},
      {.found = RunFound::completed},
      {.found = RunFound::failed, .failure = "why"},
      {.found = RunFound::in_progress, .remaining = max_guard},
      {.found = RunFound::mismatch}};
  for (const auto& sent : all) {
    const auto back = parse_reply(over_the_wire(store::Reply{.at = {}, .outcome = sent}));
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(std::get<RunOutcome>(back->outcome), sent);
  }
}

TEST(RunProtocol, a_command_that_is_none_is_refused_by_field) {
  const auto refusal = [](const RunCommand& command, std::string_view field,
                          boost::json::value value) {
    auto object = to_json(question_of(command));
    const bool is_inner = field == "status" || field == "headers" || field == "body";
    (is_inner ? object.at("answer").as_object() : object)[field] = std::move(value);
    const auto read = parse_question(object);
    return read ? std::string("none") : read.error().message;
  };
  EXPECT_EQ(refusal(begin_as("ann"), "owner", 7), "owner: must be a string");
  EXPECT_EQ(refusal(begin_as("ann"), "fingerprint", 7), "fingerprint: must be a string");
  EXPECT_EQ(refusal(begin_as("ann"), "guard_us", "1s"), "guard_us: must be an integer");
  EXPECT_EQ(refusal(begin_as("ann"), "keep_us", 1.5), "keep_us: must be an integer");
  EXPECT_EQ(refusal(begin_as("ann"), "takes_over", 1), "takes_over: must be true or false");
  EXPECT_EQ(refusal(fail_as("ann", ""), "error", 7), "error: must be a string");
  EXPECT_EQ(refusal(complete_as("ann"), "answer", nullptr), "answer: must be there");
  EXPECT_EQ(refusal(complete_as("ann"), "answer", "x"), "answer: must be an object");
  EXPECT_EQ(refusal(complete_as("ann"), "body", "?"), "answer: body: must be base64");
  EXPECT_EQ(refusal(complete_as("ann"), "status", 65736), "answer: status: must be 100 to 599");
  EXPECT_EQ(refusal(complete_as("ann"), "headers", 7), "answer: headers: must be a string");
}

TEST(RunProtocol, an_answer_that_is_none_is_refused_by_field) {
  const auto refusal = [](std::string_view field, boost::json::value value) {
    auto object = to_json(store::Reply{.at = {}, .outcome = RunOutcome{}});
    object.at("outcome").as_object()[field] = std::move(value);
    const auto read = parse_reply(object);
    return read ? std::string("none") : read.error().message;
  };
  EXPECT_EQ(refusal("fence", "7"), "none");
  EXPECT_EQ(refusal("found", "lost"), "found: must be a known word");
  EXPECT_EQ(refusal("done", "yes"), "done: must be true or false");
  EXPECT_EQ(refusal("remaining_us", -1), "remaining_us: must not be negative");
  EXPECT_TRUE(refusal("fence", -1).starts_with("fence: "));
}

// The connection is one that was used before, which the command is sent again over.
TEST_F(RemoteTest, a_word_of_a_run_whose_answer_is_lost_is_said_again_and_counts_once) {
  const auto server = serve();
  FaultProxy proxy(port_of(*server));
  backends::remote::Options options;
  options.origin.port = proxy.port();
  const auto remote = backends::remote::open_remote_store(std::move(options), runtime);
  ASSERT_TRUE(remote) << remote.error().message;
  const auto ask = [&](RunCommand command) {
    store::Request request{.name = LockName::make("order:42").value(),
                           .command = std::move(command),
                           .deadline = runtime->now() + 60s};
    auto reply = runtime::run_blocking((*remote)->apply(std::move(request)));
    EXPECT_TRUE(reply) << reply.error().message;
    return reply ? std::get<RunOutcome>(reply->outcome) : RunOutcome{};
  };
  EXPECT_EQ(ask(look_at_run()).found, RunFound::nothing);
  proxy.end_after(0, FaultProxy::Ending::reset);
  const auto begun = ask(begin_as("ann", "f"));
  EXPECT_TRUE(begun.done);
  EXPECT_EQ(begun.found, RunFound::nothing);
  proxy.end_after(0, FaultProxy::Ending::reset);
  EXPECT_TRUE(ask(complete_as("ann", {.body = "\xff"})).done);
  proxy.end_after(0, FaultProxy::Ending::reset);
  const auto replay = ask(begin_as("ben", "f"));
  EXPECT_EQ(replay.answer.body, "\xff");
  EXPECT_EQ(replay.fence, begun.fence);
}

}  // namespace
}  // namespace holdfast::test
