// SPDX-License-Identifier: Apache-2.0
#include "text/json.hpp"

#include "support/document.hpp"
#include "text/words.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <memory>
#include <string>

namespace holdfast::text {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;

constexpr WallTime now =
    std::chrono::sys_days{std::chrono::year{2026} / 11 / 15} + 21h + 30min + 250ms;

// The example below a heading of docs/json.md, as the code would print it.
std::string documented(std::string_view heading) {
  const auto page = test::read_document("json.md");
  const auto section = page.find("\n## " + std::string(heading) + "\n");
  if (section == std::string::npos) return "no such heading";
  const auto begin = page.find("```json\n", section) + 8;
  return json::serialize(json::parse(page.substr(begin, page.find("```", begin) - begin)));
}

std::shared_ptr<const Metadata> metadata(std::string host, std::int64_t pid, std::string program) {
  return std::make_shared<Metadata>(
      Metadata{std::make_shared<ProcessInfo>(ProcessInfo{std::move(host), std::move(program), pid}),
               "", "", ""});
}

LockView documented_lock() {
  auto said = *metadata("web-1", 4711, "report");
  said.source = "report.cpp:42";
  said.note = "nightly";
  LockView lock{.name = "orders:42",
                .kind = Kind::read_write,
                .capacity = all_permits,
                .order = Order::fifo,
                .holders = {},
                .waiters = {}};
  lock.holders.push_back({.fence = 1794778200250000,
                          .party = 0x9c5f1e07a2b3d486,
                          .permits = 1,
                          .claimed = false,
                          .remaining = 28765999us,
                          .held_for = 1234ms,
                          .metadata = std::make_shared<Metadata>(said)});
  lock.waiters.push_back({.party = 0x03d1c2b5e6f7a898,
                          .permits = all_permits,
                          .waiting_for = 250999us,
                          .metadata = nullptr});
  return lock;
}

TEST(Json, a_line_of_an_audit_trail_is_as_documented) {
  auto said = *metadata("web-1", 4711, "report");
  said.note = "nightly";
  const LockEvent event{.at = now,
                        .what = "granted",
                        .fence = 1794778200250000,
                        .metadata = std::make_shared<Metadata>(said)};
  EXPECT_EQ(json::serialize(to_json(event)), documented("History"));
}

TEST(Json, a_lock_with_its_holders_and_waiters_is_as_documented) {
  EXPECT_EQ(json::serialize(to_json(documented_lock(), now)), documented("Lock"));
}

TEST(Json, the_members_of_a_quorum_are_as_documented) {
  using State = MemberView::State;
  auto lock = documented_lock();
  EXPECT_FALSE(to_json(lock, now).contains("members"));
  lock.members.push_back({.address = "10.0.0.1:6379",
                          .state = State::held,
                          .fence = 1794778200250000,
                          .party = 0x9c5f1e07a2b3d486,
                          .holders = 1,
                          .remaining = 28765432us});
  lock.members.push_back({.address = "10.0.0.2:6379",
                          .state = State::unreachable,
                          .counts = false,
                          .reason = "cannot connect: Connection refused"});
  const auto members = to_json(lock, now).at("members");
  EXPECT_EQ(json::serialize(json::object{{"members", members}}), documented("Member"));
}

TEST(Json, the_leader_of_an_election_is_as_documented) {
  auto said = *metadata("web-2", 815, "scheduler");
  said.value = "http://web-2:8080";
  const HolderView leader{.fence = 1794778200250001,
                          .permits = 1,
                          .claimed = true,
                          .remaining = 500ms,
                          .held_for = -1s,
                          .metadata = std::make_shared<Metadata>(said)};
  EXPECT_EQ(json::serialize(to_json(leader, Kind::election, now)), documented("Holder and waiter"));
}

TEST(Json, a_page_is_as_documented) {
  EXPECT_EQ(json::serialize(to_json(LockPage{{}, "b3JkZXJzOjQy"}, now)), documented("Page"));
  EXPECT_TRUE(to_json(LockPage{}, now)["next"].is_null());
  EXPECT_EQ(to_json(LockPage{{documented_lock()}, ""}, now)["locks"].as_array().size(), 1U);
}

TEST(Json, a_lease_is_as_documented) {
  const LeaseFields lease{.name = "orders:42",
                          .owner = "5f0c8a1e9b7d4c3e8f6a2b1c0d9e8f7a",
                          .fence = 1794778200250000,
                          .remaining = 30s};
  EXPECT_EQ(json::serialize(to_json(lease, now)), documented("Lease"));
}

TEST(Json, an_event_is_as_documented) {
  auto said = *metadata("web-1", 4711, "report");
  said.note = "nightly";
  const EventFields event{.id = 1794778200250012,
                          .type = EventType::forced,
                          .name = "orders:42",
                          .at = now,
                          .fence = 1794778200250002,
                          .reason = "stuck since noon",
                          .source = EventSource::server,
                          .principal = "ops",
                          .kind = Kind::read_write,
                          .permits = 1,
                          .holder = &said};
  EXPECT_EQ(json::serialize(to_json(event)), documented("Event"));
}

TEST(Json, an_event_leaves_out_what_is_not_known) {
  const EventFields event{
      .id = 1, .type = EventType::store_changed, .at = now, .source = EventSource::observed};
  EXPECT_EQ(json::serialize(to_json(event)),
            R"({"id":1,"type":"store_changed","name":"","at":"2026-11-15T21:30:00.250Z",)"
            R"("source":"observed"})");
}

TEST(Json, every_type_of_event_has_its_word_on_the_page) {
  const auto page = test::read_document("json.md");
  for (int type = 0; type <= static_cast<int>(EventType::deadlock); ++type) {
    const auto word = std::string(to_word(static_cast<EventType>(type)));
    EXPECT_NE(page.find("\n| `" + word + "` | "), std::string::npos) << word;
  }
}

TEST(Json, an_error_is_as_documented) {
  const Error error{Errc::busy, "orders:42 is held by report on web-1"};
  EXPECT_EQ(json::serialize(to_json(error)), documented("Error"));
}

TEST(Json, a_fence_keeps_all_its_digits) {
  HolderView holder;
  holder.fence = std::numeric_limits<Fence>::max();
  const auto text = json::serialize(to_json(holder, Kind::mutex, now));
  EXPECT_TRUE(text.starts_with(R"({"fence":18446744073709551615,)")) << text;
}

TEST(Json, the_mode_follows_the_kind) {
  WaiterView one{.permits = 1, .waiting_for = {}, .metadata = {}};
  EXPECT_EQ(to_json(one, Kind::reentrant)["mode"], "exclusive");
  EXPECT_EQ(to_json(one, Kind::election)["mode"], "exclusive");
  EXPECT_EQ(to_json(one, Kind::read_write)["mode"], "shared");
  EXPECT_EQ(to_json(one, Kind::semaphore)["mode"], "shared");
  EXPECT_EQ(to_json(WaiterView{}, Kind::mutex)["mode"], "exclusive");
  EXPECT_EQ(to_json(WaiterView{}, Kind::mutex)["permits"], "all");
}

TEST(Json, a_semaphore_shows_its_capacity) {
  LockView lock;
  lock.kind = Kind::semaphore;
  lock.capacity = 5;
  EXPECT_EQ(to_json(lock, now)["capacity"], 5);
}

TEST(Json, times_are_rfc_3339_in_utc) {
  EXPECT_EQ(format_time(WallTime{}), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(format_time(WallTime{-1us}), "1969-12-31T23:59:59.999Z");
  EXPECT_EQ(format_time(now + 999us), "2026-11-15T21:30:00.250Z");
  EXPECT_EQ(format_time(std::chrono::sys_days{std::chrono::year{2028} / 2 / 29}),
            "2028-02-29T00:00:00.000Z");
}

TEST(Words, every_kind_and_order_has_one_and_is_found_by_it) {
  for (const auto kind :
       {Kind::mutex, Kind::reentrant, Kind::read_write, Kind::semaphore, Kind::election}) {
    EXPECT_EQ(parse_kind(to_word(kind)), kind);
  }
  for (const auto order : {Order::automatic, Order::fifo, Order::barging}) {
    EXPECT_EQ(parse_order(to_word(order)), order);
  }
  EXPECT_EQ(to_word(Kind::read_write), "read_write");
  EXPECT_FALSE(parse_kind("Mutex"));
  EXPECT_FALSE(parse_order(""));
}

}  // namespace
}  // namespace holdfast::text
