// SPDX-License-Identifier: Apache-2.0
#include <holdfast/locked.hpp>

#include "client/hand_client.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace holdfast::test {

// Beside its to_string, as a program would have it.
struct OrderId {
  OrderId(int its_number) : number(its_number) {}  // NOLINT(google-explicit-constructor)
  int number;
};
inline std::string to_string(const OrderId& id) { return "O-" + std::to_string(id.number); }

enum class Colour : std::uint8_t { red = 1, blue = 2 };
enum class Shape : std::uint8_t { round };
inline std::string_view to_string(Shape) { return "round"; }

struct Basket {
  std::vector<int> items;
};

namespace {

class LockedCall : public ClientTest {
 public:
  // The names under which anything was asked of the store.
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& sent : mine.line->history(Verb::acquire)) {
      found.push_back(sent.request.name.str());
    }
    return found;
  }
  // The name that the arguments make.
  template <typename Call, typename... Args>
  std::string name_of(Call&& call, Args&&... args) const {
    EXPECT_TRUE(call(std::forward<Args>(args)...).has_value());
    return names().back();
  }
  std::size_t questions() const { return mine.line->count(Verb::acquire); }

  const Client& client = mine.api;
};

TEST_F(LockedCall, runs_under_the_lock_of_its_argument_and_gives_it_back) {
  auto charge = locked(client, "order:{}", {.ttl = 30s}, [&](OrderId id, const Lease& lease) {
    EXPECT_EQ(holders("order:O-7"), 1U);
    EXPECT_EQ(lease.name().str(), "order:O-7");
    EXPECT_TRUE(lease.valid());
    return id.number * 10;
  });
  const Result<int> charged = charge(OrderId(7));
  EXPECT_EQ(value_of(charged), 70);
  EXPECT_TRUE(is_free("order:O-7"));
}

TEST_F(LockedCall, needs_no_lease_among_its_arguments) {
  auto twice = locked(client, "number:{}", {}, [&](int number) {
    EXPECT_EQ(holders("number:21"), 1U);
    return 2 * number;
  });
  EXPECT_EQ(value_of(twice(21)), 42);
}

TEST_F(LockedCall, answers_a_result_of_what_it_returns) {
  auto nothing = locked(client, "a", {}, [] {});
  static_assert(std::is_same_v<decltype(nothing()), Result<void>>);
  auto text = locked(client, "a", {}, [] { return std::string("x"); });
  static_assert(std::is_same_v<decltype(text()), Result<std::string>>);
  auto result = locked(client, "a", {}, []() -> Result<int> { return 5; });
  static_assert(std::is_same_v<decltype(result()), Result<int>>);
  EXPECT_TRUE(nothing().has_value());
  EXPECT_EQ(value_of(text()), "x");
  EXPECT_EQ(value_of(result()), 5);
}

TEST_F(LockedCall, makes_a_name_of_everything_that_has_a_text) {
  const auto key = [&](auto&&... args) {
    return name_of(locked(client, "k:{}", {}, [](const auto&) {}), args...);
  };
  EXPECT_EQ(key(-7), "k:-7");
  EXPECT_EQ(key(std::uint64_t{18446744073709551615U}), "k:18446744073709551615");
  EXPECT_EQ(key(true), "k:true");
  EXPECT_EQ(key('x'), "k:x");
  EXPECT_EQ(key("text"), "k:text");
  EXPECT_EQ(key(std::string("text")), "k:text");
  EXPECT_EQ(key(std::string_view("text")), "k:text");
  EXPECT_EQ(key(OrderId(3)), "k:O-3");
  EXPECT_EQ(key(Colour::blue), "k:2");
  EXPECT_EQ(key(Shape::round), "k:round");
  EXPECT_EQ(key(std::optional<int>(4)), "k:4");
}

TEST_F(LockedCall, knows_places_by_their_order_by_their_numbers_and_braces_as_such) {
  const auto work = [](int, std::string_view, const Basket&) {};
  const Basket basket;
  EXPECT_EQ(name_of(locked(client, "{}/{}", {}, work), 1, "b", basket), "1/b");
  EXPECT_EQ(name_of(locked(client, "{1}/{0}/{1}", {}, work), 1, "b", basket), "b/1/b");
  EXPECT_EQ(name_of(locked(client, "{{{0}}}", {}, work), 1, "b", basket), "{1}");
  EXPECT_EQ(name_of(locked(client, "all", {}, work), 1, "b", basket), "all");
}

TEST_F(LockedCall, converts_an_argument_before_it_becomes_a_name) {
  // Otherwise charge(7) and charge(OrderId(7)) would charge the same order at the same time.
  auto charge = locked(client, "order:{}", {}, [](const OrderId&) {});
  EXPECT_EQ(name_of(charge, 7), name_of(charge, OrderId(7)));
}

TEST_F(LockedCall, takes_a_function_of_the_arguments_for_the_name) {
  auto count = locked(
      client, [](const Basket& basket) { return "basket:" + std::to_string(basket.items.size()); },
      {}, [](const Basket& basket) { return basket.items.size(); });
  EXPECT_EQ(name_of(count, Basket{{1, 2}}), "basket:2");

  auto refusing = locked(
      client, [](int) -> Result<std::string> { return fail(Errc::bad_input, "no such order"); }, {},
      [](int) { ADD_FAILURE() << "ran without a lock"; });
  EXPECT_EQ(error_of(refusing(1)), Errc::bad_input);
}

TEST_F(LockedCall, calls_member_functions) {
  struct Shop {
    int sold = 0;
    int sell(int number, const Lease& lease) {
      EXPECT_TRUE(lease.valid());
      return sold += number;
    }
    int count() const { return sold; }
  };
  Shop shop;
  auto sell = locked(client, "shop:{1}", {}, &Shop::sell);
  EXPECT_EQ(name_of(sell, shop, 3), "shop:3");
  EXPECT_EQ(value_of(sell(&shop, 4)), 7) << "the object is not copied";
  EXPECT_EQ(value_of(locked(client, "shop", {}, &Shop::count)(shop)), 7);
}

TEST_F(LockedCall, keeps_callables_that_only_move_or_change_or_do_not) {
  auto moved = locked(client, "a", {}, [number = std::make_unique<int>(5)] { return *number; });
  EXPECT_EQ(value_of(moved()), 5);
  auto again = std::move(moved);
  EXPECT_EQ(value_of(again()), 5);

  auto counting = locked(client, "a", {}, [calls = 0]() mutable { return ++calls; });
  EXPECT_EQ(value_of(counting()), 1);
  EXPECT_EQ(value_of(counting()), 2);

  const auto constant = locked(client, "a", {}, [] { return 1; });
  EXPECT_EQ(value_of(constant()), 1);

  auto taking = locked(client, "a", {}, [](std::unique_ptr<int> number) { return *number; });
  EXPECT_EQ(value_of(taking(std::make_unique<int>(9))), 9);
}

TEST_F(LockedCall, a_changed_argument_is_the_callers_own) {
  auto fill = locked(client, "a", {}, [](std::string& text) { text += "!"; });
  std::string text = "x";
  value_of(fill(text));
  EXPECT_EQ(text, "x!");
}

TEST_F(LockedCall, never_runs_without_the_lock) {
  const auto holder = other.take("order:1");
  int ran = 0;
  auto charge = locked(client, "order:{}", {}, [&](int) { ++ran; });
  EXPECT_EQ(error_of(charge(1)), Errc::busy);
  mine.line->script(Verb::acquire, Fault::refuse(), 1);
  EXPECT_EQ(error_of(charge(2)), Errc::unavailable);
  EXPECT_EQ(error_of(charge.call(
                [] {
                  std::stop_source stopped;
                  stopped.request_stop();
                  return stopped.get_token();
                }(),
                3)),
            Errc::cancelled);
  EXPECT_EQ(ran, 0);
}

TEST_F(LockedCall, with_a_bad_name_asks_nobody_and_runs_nothing) {
  const auto work = [](const auto&...) { ADD_FAILURE() << "ran without a lock"; };
  auto charge = locked(client, "order:{}", {}, work);
  const auto message = [](const auto& result) {
    EXPECT_EQ(error_of(result), Errc::bad_input);
    return result ? std::string() : result.error().message;
  };
  EXPECT_EQ(message(charge()), "name 'order:{}': argument 0 is missing");
  EXPECT_EQ(message(charge("")), "name 'order:{}': argument 0 must not be empty");
  EXPECT_EQ(message(charge(static_cast<const char*>(nullptr))),
            "name 'order:{}': argument 0 must not be empty");
  EXPECT_EQ(message(charge(std::optional<int>())), "name 'order:{}': argument 0 must not be empty");
  EXPECT_EQ(message(charge(Basket{})), "name 'order:{}': argument 0 cannot be a part of a name");
  EXPECT_THAT(message(charge("line\nbreak")), testing::StartsWith("name must"));
  EXPECT_THAT(message(charge(std::string(max_name_bytes, 'x'))), testing::StartsWith("name must"));
  auto empty = locked(client, [] { return ""; }, {}, work);
  EXPECT_THAT(message(empty()), testing::StartsWith("name must"));
  EXPECT_EQ(questions(), 0U);
}

TEST_F(LockedCall, with_bad_options_asks_nobody_and_names_the_field) {
  const auto refused = [&](const LockedOptions& options) {
    const auto result =
        locked(client, "a", options, [] { ADD_FAILURE() << "ran without a lock"; })();
    EXPECT_EQ(error_of(result), Errc::bad_input);
    const auto message = result ? std::string() : result.error().message;
    return message.substr(0, message.find(':'));
  };
  EXPECT_EQ(refused({.ttl = 0s}), "ttl");
  EXPECT_EQ(refused({.ttl = -1s}), "ttl");
  EXPECT_EQ(refused({.ttl = max_ttl + 1us}), "ttl") << "refused, not cut";
  EXPECT_EQ(refused({.wait = -1us}), "wait");
  EXPECT_EQ(refused({.wait = max_wait + 1us}), "wait");
  EXPECT_EQ(refused({.max_hold = 1s}), "max_hold");
  EXPECT_EQ(refused({.retry = {.attempts = max_attempts + 1}}), "retry.attempts");
  EXPECT_EQ(refused({.retry = {.attempts = 2, .first = 0ms}}), "retry.first");
  EXPECT_EQ(refused({.retry = {.attempts = 2, .factor = 0.5}}), "retry.factor");
  EXPECT_EQ(refused({.retry = {.attempts = 2, .factor = std::nan("")}}), "retry.factor");
  EXPECT_EQ(refused({.retry = {.attempts = 2, .cap = 2h}}), "retry.cap");
  EXPECT_EQ(refused({.retry = {.attempts = 2, .jitter = 1.5}}), "retry.jitter");
  EXPECT_EQ(refused({.retry = {.attempts = 2, .jitter = std::nan("")}}), "retry.jitter");
  EXPECT_EQ(refused({.ttl = 0s, .retry = {.attempts = 2}}), "ttl");
  EXPECT_EQ(questions(), 0U);
}

TEST_F(LockedCall, gives_the_lock_back_when_it_throws_and_lets_the_exception_through) {
  auto charge = locked(client, "a", {}, []() -> int { throw std::runtime_error("no money"); });
  EXPECT_THROW(value_of(charge()), std::runtime_error);
  EXPECT_TRUE(is_free("a"));
}

TEST_F(LockedCall, gives_the_lock_back_when_it_returns_an_error) {
  auto charge = locked(client, "a", {}, []() -> Result<int> {
    return fail(Errc::unavailable, "the bank is closed");
  });
  const auto charged = charge();
  EXPECT_EQ(error_of(charged), Errc::unavailable);
  EXPECT_EQ(charged.error().message, "the bank is closed");
  EXPECT_TRUE(is_free("a"));
}

TEST_F(LockedCall, skips_where_somebody_else_holds_it) {
  const auto holder = other.take("a");
  auto number = locked(client, "a", {}, [] { return 1; }, skip_if_busy);
  static_assert(std::is_same_v<decltype(number()), Result<std::optional<int>>>);
  EXPECT_EQ(value_of(number()), std::nullopt);
  auto nothing = locked(client, "a", {}, [] {}, skip_if_busy);
  static_assert(std::is_same_v<decltype(nothing()), Result<bool>>);
  EXPECT_FALSE(value_of(nothing()));
}

TEST_F(LockedCall, that_may_skip_says_that_it_ran) {
  EXPECT_EQ(value_of(locked(client, "a", {}, [] { return 1; }, skip_if_busy)()), 1);
  EXPECT_TRUE(value_of(locked(client, "a", {}, [] {}, skip_if_busy)()));
  auto result = locked(client, "a", {}, []() -> Result<void> { return {}; }, skip_if_busy);
  EXPECT_TRUE(value_of(result()));
}

TEST_F(LockedCall, does_not_skip_for_any_other_reason) {
  auto work = locked(client, "a", {}, [] {}, skip_if_busy);
  mine.line->script(Verb::acquire, Fault::refuse());
  EXPECT_EQ(error_of(work()), Errc::unavailable);
  EXPECT_EQ(error_of(locked(client, "", {}, [] {}, skip_if_busy)()), Errc::bad_input);
}

TEST_F(LockedCall, does_not_take_its_callables_own_busy_for_a_lock_that_is_busy) {
  const auto busy = []() -> Result<int> { return fail(Errc::busy, "the bank is busy"); };
  const auto skipping = locked(client, "a", {}, busy, skip_if_busy)();
  ASSERT_EQ(error_of(skipping), Errc::busy);
  EXPECT_EQ(skipping.error().message, "the bank is busy");

  const auto handling = locked(client, "a", {}, busy, or_else([](const Error&) -> int {
                                 ADD_FAILURE() << "the lock was had";
                                 return 0;
                               }))();
  EXPECT_EQ(error_of(handling), Errc::busy);

  // A lock inside that is busy is the callable's own affair too.
  const auto holder = other.take("inner");
  const auto nested = locked(
      client, "a", {}, [&] { return client.with_lock("inner", {}, [](const Lease&) {}); },
      skip_if_busy)();
  EXPECT_EQ(error_of(nested), Errc::busy);
}

TEST_F(LockedCall, asks_the_handler_what_to_do_without_the_lock) {
  const auto holder = other.take("a");
  const auto number = locked(
      client, "a", {}, [] { return 1; }, or_else([](const Error& error) {
        EXPECT_EQ(error.code, Errc::busy);
        return 2;
      }));
  EXPECT_EQ(value_of(number()), 2);
  const auto other_error = locked(
      client, "a", {}, [] { return 1; },
      or_else([](const Error&) -> Result<int> { return fail(Errc::deadlock, "mine"); }));
  EXPECT_EQ(error_of(other_error()), Errc::deadlock);
  bool asked = false;
  const auto nothing = locked(client, "a", {}, [] {}, or_else([&](const Error&) { asked = true; }));
  EXPECT_TRUE(nothing().has_value());
  EXPECT_TRUE(asked);
  const auto throws = locked(
      client, "a", {}, [] {},
      or_else([](const Error& error) { throw std::runtime_error(error.message); }));
  EXPECT_THROW(value_of(throws()), std::runtime_error);
}

TEST_F(LockedCall, renews_unless_it_is_told_not_to) {
  auto work = locked(client, "a", {.ttl = 3s}, [&](const Lease& lease) {
    advance(10s);
    return lease.valid();
  });
  EXPECT_TRUE(value_of(work()));
  auto short_work = locked(client, "a", {.ttl = 3s, .renew = false}, [&](const Lease& lease) {
    advance(10s);
    return lease.valid();
  });
  EXPECT_FALSE(value_of(short_work()));
}

TEST_F(LockedCall, whose_lease_is_lost_learns_it_and_its_result_stands) {
  auto work = locked(client, "a", {.ttl = 3s}, [&](const Lease& lease) {
    value_of(other.api.force_release("a", "a test"));
    advance(3s);
    EXPECT_TRUE(lease.lost().stop_requested());
    return std::string("done");
  });
  EXPECT_EQ(value_of(work()), "done");
}

TEST_F(LockedCall, tells_operators_its_note_and_where_it_was_made) {
  std::string note = "nightly";
  auto work = locked(client, "a", {.note = note}, [&] {
    const auto held = seen("a").holders.at(0).metadata;
    EXPECT_EQ(held->note, "nightly");
    EXPECT_THAT(held->source, testing::StartsWith("locked_test.cpp:"));
  });
  note = "changed since";
  value_of(work());
}

TEST_F(LockedCall, may_be_called_again_and_by_copies) {
  auto work = locked(client, "n:{}", {}, [](int number) { return number; });
  auto copy = work;
  EXPECT_EQ(value_of(work(1)), 1);
  EXPECT_EQ(value_of(copy(2)), 2);
  EXPECT_EQ(value_of(work(3)), 3);
  EXPECT_EQ(names(), (std::vector<std::string>{"n:1", "n:2", "n:3"}));
}

}  // namespace
}  // namespace holdfast::test
