// SPDX-License-Identifier: Apache-2.0
#include "forrst/service_fixture.hpp"

#include <future>
#include <thread>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using Right = forrst::Caller::Right;

forrst::Caller caller_with(Right most) {
  return {.is_known = true, .may = [most](Right right, std::string_view) { return right <= most; }};
}

class LockFunctions : public ForrstService {
 protected:
  // Held by `owner` until it is released.
  void take(std::string_view owner) {
    Question question;
    question.locked(
        {{"key", "user:1"}, {"ttl", span(60)}, {"owner", owner}, {"auto_release", false}});
    ASSERT_TRUE(ask(question).is_good());
  }
  Told release(std::string_view owner, std::string_view of = charge_key) const {
    return lock_call("release", {{"key", of}, {"owner", owner}});
  }
};

TEST_F(LockFunctions, a_lock_is_released_by_its_owner_alone) {
  take("anna");
  EXPECT_EQ(release("ben").code(), "LOCK_OWNERSHIP_MISMATCH");
  EXPECT_TRUE(is_locked(charge_key));
  EXPECT_TRUE(release("anna").is_good());
  EXPECT_FALSE(is_locked(charge_key));
}

TEST_F(LockFunctions, whoever_releases_twice_is_told_so) {
  take("anna");
  EXPECT_TRUE(release("anna").is_good());
  const auto again = release("anna");
  EXPECT_EQ(again.status, 409);
  EXPECT_EQ(again.code(), "LOCK_ALREADY_RELEASED");
  take("ben");
  EXPECT_EQ(release("anna").code(), "LOCK_ALREADY_RELEASED");
  EXPECT_TRUE(is_locked(charge_key));
  EXPECT_EQ(release("carl").code(), "LOCK_OWNERSHIP_MISMATCH");
}

// The owner is the caller's own, and is used again.
TEST_F(LockFunctions, a_late_release_with_a_fence_leaves_the_next_lock_of_the_owner_alone) {
  const auto fence = [&] {
    return lock_call("status", {{"key", charge_key}}).body.at("result").at("fence");
  };
  const auto release_of = [&](const json::value& which) {
    return lock_call("release", {{"key", charge_key}, {"owner", "anna"}, {"fence", which}});
  };
  take("anna");
  const auto first = fence();
  EXPECT_TRUE(release_of(first).is_good());
  take("anna");
  EXPECT_FALSE(release_of(first).is_good());
  EXPECT_TRUE(is_locked(charge_key));
  EXPECT_TRUE(release_of(fence()).is_good());
}

TEST_F(LockFunctions, a_fence_that_is_none_is_refused_and_ends_nothing) {
  take("anna");
  for (const json::value& bad :
       {json::value(0), json::value(-1), json::value(1.5), json::value("7"), json::value(true),
        json::value(std::uint64_t{1} << 63U)}) {
    const auto told =
        lock_call("release", {{"key", charge_key}, {"owner", "anna"}, {"fence", bad}});
    EXPECT_EQ(told.code(), "INVALID_ARGUMENTS") << json::serialize(bad);
    EXPECT_EQ(told.message(), "fence: must be an integer from 1 to 9223372036854775807");
  }
  EXPECT_TRUE(is_locked(charge_key));
}

TEST_F(LockFunctions, a_lock_that_released_itself_was_already_released) {
  Question question;
  question.locked({{"key", "user:1"}, {"ttl", span(60)}, {"owner", "anna"}});
  ASSERT_TRUE(ask(question).is_good());
  EXPECT_EQ(release("anna").code(), "LOCK_ALREADY_RELEASED");
}

TEST_F(LockFunctions, an_owner_that_takes_it_again_can_release_it_again) {
  take("anna");
  ASSERT_TRUE(release("anna").is_good());
  take("anna");
  EXPECT_TRUE(release("anna").is_good());
}

TEST_F(LockFunctions, what_was_released_long_ago_is_forgotten) {
  serve({.remember_released = 0s});
  take("anna");
  ASSERT_TRUE(release("anna").is_good());
  EXPECT_EQ(release("anna").code(), "LOCK_NOT_FOUND");
}

TEST_F(LockFunctions, only_so_many_owners_are_remembered) {
  serve({.max_remembered = 2});
  for (const auto* owner : {"anna", "ben", "carl"}) {
    take(owner);
    ASSERT_TRUE(release(owner).is_good());
  }
  EXPECT_EQ(release("anna").code(), "LOCK_NOT_FOUND");
  EXPECT_EQ(release("ben").code(), "LOCK_ALREADY_RELEASED");
  EXPECT_EQ(release("carl").code(), "LOCK_ALREADY_RELEASED");
}

TEST_F(LockFunctions, a_lock_that_nobody_holds_is_not_found) {
  const auto told = release("anna");
  EXPECT_EQ(told.status, 404);
  EXPECT_EQ(told.code(), "LOCK_NOT_FOUND");
  EXPECT_EQ(told.message(), "Lock does not exist");
  EXPECT_EQ(told.error().at("details"), json::value({{"key", charge_key}}));
  EXPECT_EQ(lock_call("force-release", {{"key", charge_key}}).code(), "LOCK_NOT_FOUND");
  EXPECT_EQ(lock_call("renew", {{"key", charge_key}, {"owner", "anna"}, {"ttl", span(5)}}).code(),
            "LOCK_NOT_FOUND");
}

TEST_F(LockFunctions, both_prefixes_mean_the_same_lock_and_are_echoed) {
  take("anna");
  const auto* other = "forrst_lock:payments.charge:user:1";
  const auto status = lock_call("status", {{"key", other}});
  EXPECT_EQ(status.body.at("result").at("key"), other);
  EXPECT_EQ(status.body.at("result").at("locked"), true);
  EXPECT_EQ(release("anna", other).body.at("result").at("key"), other);
  EXPECT_FALSE(is_locked(charge_key));
}

TEST_F(LockFunctions, each_spelling_of_their_names_works) {
  for (const auto* base : {"urn:forrst:ext:atomicLock:fn:", "urn:forrst:ext:atomic-lock:fn:",
                           "urn:cline:forrst:ext:atomic-lock:fn:"}) {
    const auto told =
        ask({.function = std::string(base) + "status", .arguments = {{"key", charge_key}}});
    EXPECT_TRUE(told.is_good()) << told.raw;
  }
}

TEST_F(LockFunctions, a_release_leaves_those_alone_who_wait_under_the_same_owner) {
  auto theirs = std::make_unique<Lease>(hold(charge_key));
  Question question;
  question.locked({{"key", "user:1"}, {"ttl", span(60)}, {"owner", "anna"}, {"block", span(60)}});
  auto waiting = std::async(std::launch::async, [&] { return ask(question); });
  ASSERT_TRUE(has_waiter(charge_key));
  EXPECT_EQ(release("anna").code(), "LOCK_OWNERSHIP_MISMATCH");
  EXPECT_EQ(client.inspect(charge_key)->waiters.size(), 1U);
  ASSERT_TRUE(theirs->release());
  EXPECT_TRUE(waiting.get().is_good());
}

TEST_F(LockFunctions, a_renewal_gives_another_ttl) {
  take("anna");
  const auto told =
      lock_call("renew", {{"key", charge_key}, {"owner", "anna"}, {"ttl", span(2, "hour")}});
  ASSERT_TRUE(told.is_good()) << told.raw;
  EXPECT_EQ(told.body.at("result").at("renewed"), true);
  EXPECT_GT(client.inspect(charge_key)->holders.at(0).remaining, 1h);
  EXPECT_EQ(lock_call("renew", {{"key", charge_key}, {"owner", "ben"}, {"ttl", span(5)}}).code(),
            "LOCK_OWNERSHIP_MISMATCH");
}

TEST_F(LockFunctions, a_lock_can_be_taken_without_a_function) {
  const auto told = lock_call("acquire", {{"key", "deploy"}, {"ttl", span(60)}});
  ASSERT_TRUE(told.is_good()) << told.raw;
  const auto& result = told.body.at("result").as_object();
  EXPECT_EQ(result.at("full_key"), "lock:deploy");
  EXPECT_EQ(result.at("scope"), "global");
  EXPECT_TRUE(is_locked("lock:deploy"));
  EXPECT_EQ(lock_call("acquire", {{"key", "deploy"}, {"ttl", span(60)}}).status, 423);
  EXPECT_TRUE(
      lock_call("release", {{"key", "lock:deploy"}, {"owner", result.at("owner")}}).is_good());
}

TEST_F(LockFunctions, the_lock_of_a_function_can_be_taken_from_outside) {
  const auto told =
      lock_call("acquire", {{"key", "user:1"}, {"function", "payments.charge"}, {"ttl", span(60)}});
  EXPECT_EQ(told.body.at("result").at("full_key").as_string(), charge_key);
  Question question;
  question.locked({{"key", "user:1"}, {"ttl", span(60)}});
  EXPECT_EQ(ask(question).code(), "LOCK_ACQUISITION_FAILED");
  EXPECT_EQ(lock_call("acquire", {{"key", "x"}, {"scope", "function"}, {"ttl", span(1)}}).pointer(),
            "/call/arguments/function");
}

TEST_F(LockFunctions, force_is_for_administrators) {
  take("anna");
  const auto told = lock_call("force-release", {{"key", charge_key}}, caller_with(Right::lock));
  EXPECT_EQ(told.status, 403);
  EXPECT_EQ(told.code(), "FORBIDDEN");
  EXPECT_TRUE(is_locked(charge_key));
  EXPECT_TRUE(
      lock_call("force-release", {{"key", charge_key}}, caller_with(Right::admin)).is_good());
}

TEST_F(LockFunctions, a_reader_may_look_and_nothing_else) {
  take("anna");
  const auto reader = caller_with(Right::read);
  EXPECT_TRUE(lock_call("status", {{"key", charge_key}}, reader).is_good());
  for (const auto* name : {"release", "renew", "force-release", "acquire"}) {
    const auto told =
        lock_call(name, {{"key", charge_key}, {"owner", "anna"}, {"ttl", span(5)}}, reader);
    EXPECT_EQ(told.code(), "FORBIDDEN") << name;
  }
  EXPECT_TRUE(is_locked(charge_key));
}

TEST_F(LockFunctions, the_owner_is_shown_to_those_who_may_know_it) {
  take("anna");
  const auto owner_for = [&](const forrst::Caller& caller, json::object more = {}) {
    more["key"] = charge_key;
    const auto told = lock_call("status", std::move(more), caller);
    const auto* owner = told.body.at("result").as_object().if_contains("owner");
    return owner != nullptr ? std::string(owner->as_string()) : std::string("-");
  };
  EXPECT_EQ(owner_for({}), "anna");
  EXPECT_EQ(owner_for(caller_with(Right::read)), "-");
  EXPECT_EQ(owner_for(caller_with(Right::admin)), "anna");
  EXPECT_EQ(owner_for(caller_with(Right::read), {{"owner", "anna"}}), "anna");
  EXPECT_EQ(owner_for(caller_with(Right::read), {{"owner", "ben"}}), "-");
}

TEST_F(LockFunctions, who_sees_the_owner_can_be_chosen) {
  take("anna");
  const auto shows = [&](forrst::ShowOwner choice, const forrst::Caller& caller) {
    serve({.status_owner = choice});
    return lock_call("status", {{"key", charge_key}}, caller)
        .body.at("result")
        .as_object()
        .contains("owner");
  };
  EXPECT_TRUE(shows(forrst::ShowOwner::always, caller_with(Right::read)));
  EXPECT_FALSE(shows(forrst::ShowOwner::admin, caller_with(Right::read)));
  EXPECT_FALSE(shows(forrst::ShowOwner::admin, {}));
  EXPECT_TRUE(shows(forrst::ShowOwner::admin, caller_with(Right::admin)));
}

TEST_F(LockFunctions, an_acquisition_whose_answer_is_lost_is_given_back) {
  const Question question{.function = std::string(lock_function) + "acquire",
                          .arguments = {{"key", "deploy"}, {"ttl", span(60)}}};
  auto reply = service->handle(question.text());
  ASSERT_TRUE(is_locked("lock:deploy"));
  ASSERT_TRUE(reply.undelivered);
  reply.undelivered();
  EXPECT_TRUE(eventually([&] { return !is_locked("lock:deploy"); }));
}

TEST_F(LockFunctions, an_owner_that_took_it_again_and_let_it_end_did_not_release_it) {
  take("anna");
  ASSERT_TRUE(release("anna").is_good());
  take("anna");
  ASSERT_TRUE(client.force_release(charge_key, "test"));
  EXPECT_EQ(release("anna").code(), "LOCK_NOT_FOUND");
}

}  // namespace
}  // namespace holdfast::test
