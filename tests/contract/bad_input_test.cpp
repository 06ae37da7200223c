// SPDX-License-Identifier: Apache-2.0
//
// Everything a caller can get wrong, as one table per door: a stable code, a sentence that names
// the field, and nothing changed.
#include "client_contract.hpp"

#include <limits>

namespace holdfast::test {

using namespace std::string_literals;

namespace {

struct BadCall {
  const char* what;
  std::function<Result<void>(const Client&)> call;
  Errc code;
  const char* field;                                 // named by the message
  model::LockSpec needs = model::LockSpec::mutex();  // a store that cannot do it refuses otherwise
};

template <typename T>
Result<void> dropped(Result<T> result) {
  if (result) return {};
  return std::unexpected(std::move(result.error()));
}

BadCall bad_name(const char* what, const std::string& name) {
  return {what, [name](const Client& c) { return dropped(c.mutex(name).acquire()); },
          Errc::bad_input, "name"};
}

BadCall bad_options(const char* what, AcquireOptions options, const char* field) {
  return {what, [options](const Client& c) { return dropped(c.mutex("free").acquire(options)); },
          Errc::bad_input, field};
}

BadCall bad_permits(const char* what, std::uint32_t n, std::uint32_t permits, const char* field) {
  const auto call = [n, permits](const Client& c) {
    return dropped(c.semaphore("free", n).acquire({.permits = permits}));
  };
  return {what, call, Errc::bad_input, field, model::LockSpec::semaphore(3)};
}

std::vector<BadCall> bad_names() {
  return {
      bad_name("an empty name", ""),
      bad_name("a name one byte too long", std::string(max_name_bytes + 1, 'x')),
      bad_name("a name of a megabyte", std::string(1 << 20, 'x')),
      bad_name("a name with NUL", "a\0b"s),
      bad_name("a name with a tab", "a\tb"),
      bad_name("a name with a line feed", "a\n"),
      bad_name("a name with a carriage return", "\ra"),
      bad_name("a name with DEL", "a\x7f"),
      bad_name("a name with a C1 control", "a\xc2\x85"),
      bad_name("a name with U+2028", "a\xe2\x80\xa8"),
      bad_name("a name that is not UTF-8", "a\xff"),
      bad_name("a name with half a character", "a\xc3"),
      bad_name("a name with an overlong character", "\xc0\xaf"),
      bad_name("a name with a surrogate", "\xed\xa0\x80"),
      {"an owner with a line feed",
       [](const Client& c) { return dropped(c.mutex("free").acquire({.owner = "a\nb"})); },
       Errc::bad_input, "owner"},
      {"an owner that is too long",
       [](const Client& c) {
         const std::string owner(max_owner_bytes + 1, 'o');
         return dropped(c.mutex("free").acquire({.owner = owner}));
       },
       Errc::bad_input, "owner"},
      {"adopting a bad name", [](const Client& c) { return dropped(c.adopt("", "anna")); },
       Errc::bad_input, "name"},
      {"adopting for an empty owner", [](const Client& c) { return dropped(c.adopt("held", "")); },
       Errc::bad_input, "owner"},
      {"inspecting a bad name", [](const Client& c) { return dropped(c.inspect("\n")); },
       Errc::bad_input, "name"},
      {"forcing a bad name", [](const Client& c) { return dropped(c.force_release("", "why")); },
       Errc::bad_input, "name"},
      {"the leader of a bad name", [](const Client& c) { return dropped(c.election("").leader()); },
       Errc::bad_input, "name"},
      {"one bad name among several",
       [](const Client& c) {
         const std::string_view names[] = {"free", "\n"};
         return dropped(c.acquire_all(names));
       },
       Errc::bad_input, "name"},
  };
}

std::vector<BadCall> bad_times() {
  return {
      bad_options("ttl 0", {.ttl = 0s}, "ttl"),
      bad_options("ttl -1 s", {.ttl = -1s}, "ttl"),
      bad_options("ttl below the least", {.ttl = min_ttl - 1us}, "ttl"),
      bad_options("ttl above the most", {.ttl = max_ttl + 1us}, "ttl"),
      bad_options("ttl without end", {.ttl = Duration::max()}, "ttl"),
      bad_options("ttl that overflowed", {.ttl = Duration::min()}, "ttl"),
      bad_options("wait -1 us", {.wait = -1us}, "wait"),
      bad_options("wait without end", {.wait = Duration::max()}, "wait"),
      bad_options("wait that overflowed", {.wait = Duration::min()}, "wait"),
      bad_options("renew_every -1 ms", {.renew_every = -1ms}, "renew_every"),
      bad_options("renew_every as long as the ttl", {.ttl = 1s, .renew_every = 1s}, "renew_every"),
      bad_options("max_hold -1 s", {.max_hold = -1s}, "max_hold"),
      bad_options("max_hold below the ttl", {.ttl = 10s, .max_hold = 9s}, "max_hold"),
      {"a bad ttl among several names",
       [](const Client& c) {
         const std::string_view names[] = {"free", "too"};
         return dropped(c.acquire_all(names, {.ttl = 0s}));
       },
       Errc::bad_input, "ttl"},
  };
}

std::vector<BadCall> bad_numbers() {
  return {
      bad_permits("permits 0", 3, 0, "permits"),
      bad_permits("permits above n", 3, 4, "permits"),
      bad_permits("a semaphore of 0", 0, 1, "capacity"),
      bad_permits("a semaphore without end", UINT32_MAX, 1, "capacity"),
      bad_options("permits of a mutex", {.permits = 2}, "permits"),
      bad_options("permits 0 of a mutex", {.permits = 0}, "permits"),
      {"a note that is too long",
       [](const Client& c) {
         const std::string note(max_metadata_bytes + 1, 'n');
         return dropped(c.mutex("free").acquire({.note = note}));
       },
       Errc::bad_input, "note"},
      {"a note that is no text",
       [](const Client& c) { return dropped(c.mutex("free").acquire({.note = "\xff"})); },
       Errc::bad_input, "note"},
      {"a value that is too long",
       [](const Client& c) {
         const std::string value(max_metadata_bytes + 1, 'v');
         return dropped(c.election("free").campaign(value));
       },
       Errc::bad_input, "value"},
      {"no reason to force", [](const Client& c) { return dropped(c.force_release("held", "")); },
       Errc::bad_input, "reason"},
      {"a page of 0", [](const Client& c) { return dropped(c.list({.limit = 0})); },
       Errc::bad_input, "limit"},
      {"a page that is too long", [](const Client& c) { return dropped(c.list({.limit = 1001})); },
       Errc::bad_input, "limit"},
  };
}

std::vector<BadCall> bad_specs() {
  return {
      {"the name as a semaphore",
       [](const Client& c) { return dropped(c.semaphore("held", 2).acquire()); },
       Errc::spec_mismatch, "held", model::LockSpec::semaphore(2)},
      {"the name as a reentrant mutex, waiting",
       [](const Client& c) { return dropped(c.reentrant("held").acquire({.wait = 1s})); },
       Errc::spec_mismatch, "held"},
      {"the name in another order",
       [](const Client& c) { return dropped(c.mutex("held", Order::barging).acquire()); },
       Errc::spec_mismatch, "held", model::LockSpec::mutex(Order::fifo)},
      {"the name as an election",
       [](const Client& c) { return dropped(c.election("held").campaign("x")); },
       Errc::spec_mismatch, "held"},
  };
}

void refuses(const Client& client, const store::Store& store, const std::vector<BadCall>& calls) {
  auto held = ok(client.mutex("held").acquire({.ttl = 20s, .renew = false}));
  for (const auto& bad : calls) {
    if (!store.supports(bad.needs)) continue;
    const auto result = bad.call(client);
    ASSERT_FALSE(result.has_value()) << bad.what;
    EXPECT_EQ(to_string(result.error().code), to_string(bad.code)) << bad.what;
    const auto& message = result.error().message;
    EXPECT_NE(message.find(bad.field), std::string::npos) << bad.what << ": " << message;
    EXPECT_LT(message.size(), 600U) << bad.what;
    EXPECT_EQ(message.find('\n'), std::string::npos) << bad.what << " is not one sentence";
  }
  const auto left = client.list();
  ASSERT_TRUE(is_ok(left));
  ASSERT_EQ(left->locks.size(), 1U);
  ASSERT_EQ(left->locks[0].holders.size(), 1U);
  EXPECT_EQ(left->locks[0].holders[0].fence, held->fence());
  EXPECT_TRUE(left->locks[0].waiters.empty());
  EXPECT_TRUE(held->valid());
}

}  // namespace

TEST_P(ClientContract, bad_names_are_refused_and_change_nothing) {
  refuses(client, *open_store(), bad_names());
}
TEST_P(ClientContract, bad_times_are_refused_and_change_nothing) {
  refuses(client, *open_store(), bad_times());
}
TEST_P(ClientContract, bad_numbers_are_refused_and_change_nothing) {
  refuses(client, *open_store(), bad_numbers());
}
TEST_P(ClientContract, another_spec_is_refused_and_changes_nothing) {
  refuses(client, *open_store(), bad_specs());
}

TEST_P(ClientContract, a_lease_refuses_bad_times_and_stays_as_it_was) {
  auto lease = ok(client.mutex("held").acquire({.ttl = 20s, .renew = false}));
  for (const Duration ttl : {Duration(0s), Duration(-1s), min_ttl - 1us, max_ttl + 1us,
                             Duration::max(), Duration::min()}) {
    const auto extended = lease->extend(ttl);
    ASSERT_EQ(code_of(extended), "bad_input") << ttl.count();
    EXPECT_NE(extended.error().message.find("ttl"), std::string::npos);
  }
  EXPECT_EQ(code_of(lease->upgrade(-1us)), "bad_input");
  EXPECT_TRUE(lease->valid());
  EXPECT_EQ(lease->release(), Released::released);
}

TEST_P(ClientContract, only_read_write_leases_are_upgraded_and_downgraded) {
  auto permit = ok(client.semaphore("pool", 1).acquire());
  EXPECT_EQ(code_of(permit->upgrade()), "bad_input");
  EXPECT_EQ(code_of(permit->downgrade()), "bad_input");
  auto entry = ok(client.reentrant("reentrant").acquire());
  EXPECT_EQ(code_of(entry->upgrade()), "bad_input");
  auto mutex = ok(client.mutex("mutex").acquire());
  EXPECT_EQ(code_of(mutex->downgrade()), "bad_input");
  EXPECT_TRUE(permit->valid());
  EXPECT_TRUE(entry->valid());
  EXPECT_TRUE(mutex->valid());
  EXPECT_EQ(code_of(client.mutex("mutex").acquire()), "busy");
}

}  // namespace holdfast::test
