// SPDX-License-Identifier: Apache-2.0
//
// What must not get past the border of any store, and names that must.
#include "store_contract.hpp"

#include <limits>

namespace holdfast::test {

using model::Acquire;
using model::LockCommand;
using model::LockSpec;

namespace {

struct BadCommand {
  const char* what;
  LockCommand command;
  const char* field;  // named by the message
};

LockCommand acquire_with(LockSpec spec, void (*spoil)(Acquire&)) {
  Acquire acquire = to_command(spec.kind, {.owner = "mallory"});
  spoil(acquire);
  return {spec, std::move(acquire)};
}

LockCommand renew_with(Micros ttl) {
  return {LockSpec::mutex(), model::Renew{owner_named("anna"), model::RequestId{1}, ttl}};
}

LockSpec with_capacity(LockSpec spec, std::uint32_t capacity) {
  spec.capacity = capacity;
  return spec;
}

std::vector<BadCommand> bad_commands() {
  const auto mutex = LockSpec::mutex();
  const auto three = LockSpec::semaphore(3);
  return {
      {"ttl 0", acquire_with(mutex, [](Acquire& a) { a.ttl = 0s; }), "ttl"},
      {"ttl -1", acquire_with(mutex, [](Acquire& a) { a.ttl = -1us; }), "ttl"},
      {"ttl too short", acquire_with(mutex, [](Acquire& a) { a.ttl = 20ms - 1us; }), "ttl"},
      {"ttl too long", acquire_with(mutex, [](Acquire& a) { a.ttl = 24h + 1us; }), "ttl"},
      {"ttl for ever", acquire_with(mutex, [](Acquire& a) { a.ttl = Micros::max(); }), "ttl"},
      {"ttl never", acquire_with(mutex, [](Acquire& a) { a.ttl = Micros::min(); }), "ttl"},
      {"renewal 0", renew_with(0s), "ttl"},
      {"renewal -1", renew_with(-1s), "ttl"},
      {"renewal for ever", renew_with(Micros::max()), "ttl"},
      {"permits 0", acquire_with(three, [](Acquire& a) { a.permits = 0; }), "permits"},
      {"permits above n", acquire_with(three, [](Acquire& a) { a.permits = 4; }), "permits"},
      {"permits of a mutex", acquire_with(mutex, [](Acquire& a) { a.permits = 1; }), "permits"},
      {"capacity 0", acquire_with(with_capacity(three, 0), [](Acquire&) {}), "capacity"},
      {"capacity of a mutex", acquire_with(with_capacity(mutex, 7), [](Acquire&) {}), "capacity"},
      {"no request", acquire_with(mutex, [](Acquire& a) { a.request = {}; }), "request"},
      {"claim 0", acquire_with(mutex, [](Acquire& a) { a.claim = 0s; }), "claim"},
      {"much metadata",
       acquire_with(mutex,
                    [](Acquire& a) {
                      auto much = std::make_shared<Metadata>();
                      much->note = std::string(max_metadata_bytes + 1, 'x');
                      a.metadata = much;
                    }),
       "metadata"},
      {"a note that is no text",
       acquire_with(mutex,
                    [](Acquire& a) {
                      auto bad = std::make_shared<Metadata>();
                      bad->note = "\xff";
                      a.metadata = bad;
                    }),
       "note"},
  };
}

}  // namespace

TEST_P(StoreContract, bad_commands_are_refused_at_the_border_and_change_nothing) {
  const auto fence = granted(acquire({.owner = "anna", .ttl = 20s})).fence;
  for (const auto& bad : bad_commands()) {
    for (const auto* name : {"orders:42", "nobody's"}) {
      const auto reply = send(bad.command, name);
      ASSERT_FALSE(reply.has_value()) << bad.what;
      EXPECT_EQ(reply.error().code, Errc::bad_input) << bad.what;
      EXPECT_NE(reply.error().message.find(bad.field), std::string::npos)
          << bad.what << ": " << reply.error().message;
    }
  }
  EXPECT_EQ(names_listed(""), std::vector<std::string>{"orders:42"});
  const auto seen = inspect();
  ASSERT_EQ(seen.holders.size(), 1U);
  EXPECT_EQ(seen.holders[0].fence, fence);
  EXPECT_TRUE(seen.waiters.empty());
}

TEST_P(StoreContract, every_name_that_is_allowed_is_a_lock_of_its_own) {
  const std::vector<std::string> names = {"a",
                                          "A",
                                          " ",
                                          "  ",
                                          "a b",
                                          "a ",
                                          " a",
                                          "orders/42",
                                          "../../etc/passwd",
                                          "{tag}:x",
                                          "*",
                                          "?",
                                          "-x",
                                          "%00",
                                          "a=b&c=d",
                                          "\"quoted\"",
                                          "\\",
                                          "gr\xc3\xbc\xc3\x9f",
                                          "\xf0\x9f\x94\x92",
                                          "\xe6\x97\xa5\xe6\x9c\xac",
                                          std::string(max_name_bytes, 'n'),
                                          std::string(max_name_bytes - 1, 'n'),
                                          std::string(max_name_bytes - 1, 'n') + "m"};
  for (const auto& name : names) granted(acquire({.owner = "anna"}, name));
  for (const auto& name : names) {
    busy(acquire({.owner = "ben"}, name));
    EXPECT_EQ(inspect(name).holders.size(), 1U) << name;
  }
  EXPECT_EQ(names_listed("", 7).size(), names.size());
  for (const auto& name : names) must_be<model::Released>(release("anna", 1, name));
  EXPECT_TRUE(names_listed("").empty());
}

TEST_P(StoreContract, an_owner_may_be_as_long_and_as_odd_as_a_name) {
  const std::string longest(max_owner_bytes, 'o');
  granted(acquire({.owner = longest}));
  busy(acquire({.owner = "\xf0\x9f\x94\x92"}));
  must_be<model::Released>(release(longest));
  granted(acquire({.owner = "\xf0\x9f\x94\x92"}));
}

}  // namespace holdfast::test
