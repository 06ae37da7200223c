// SPDX-License-Identifier: Apache-2.0
#include "model/admission.hpp"

#include <holdfast/options.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>

namespace holdfast::model {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;

Acquire acquire(std::uint32_t permits = all_permits) {
  return Acquire{.owner = OwnerId::from_random(1, 1),
                 .request = RequestId{1},
                 .permits = permits,
                 .ttl = 30s,
                 .metadata = {}};
}

MetadataPtr note(std::string text) {
  return std::make_shared<Metadata>(Metadata{nullptr, "", std::move(text), ""});
}

testing::AssertionResult refused(const LockCommand& command, std::string_view sentence) {
  const auto checked = admissible(command);
  if (checked) return testing::AssertionFailure() << "was admitted";
  if (checked.error().code != Errc::bad_input) {
    return testing::AssertionFailure() << "code is " << to_string(checked.error().code);
  }
  if (checked.error().message.find(sentence) == std::string::npos) {
    return testing::AssertionFailure() << "message is: " << checked.error().message;
  }
  return testing::AssertionSuccess();
}

TEST(Admission, every_kind_has_a_request_that_passes) {
  EXPECT_TRUE(admissible({LockSpec::mutex(), acquire(all_permits)}));
  EXPECT_TRUE(admissible({LockSpec::reentrant(Order::fifo), acquire(1)}));
  EXPECT_TRUE(admissible({LockSpec::read_write(Order::barging), acquire(1)}));
  EXPECT_TRUE(admissible({LockSpec::read_write(), acquire(all_permits)}));
  EXPECT_TRUE(admissible({LockSpec::semaphore(5), acquire(1)}));
  EXPECT_TRUE(admissible({LockSpec::semaphore(5), acquire(5)}));
  EXPECT_TRUE(admissible({LockSpec::semaphore(all_permits - 1), acquire(all_permits - 1)}));
  EXPECT_TRUE(admissible({LockSpec::election(), acquire(1)}));
}

TEST(Admission, a_command_that_only_names_a_lock_needs_no_spec_of_its_own) {
  const auto owner = OwnerId::from_random(1, 1);
  EXPECT_TRUE(admissible({LockSpec{}, Release{owner, RequestId::any}}));
  EXPECT_TRUE(admissible({LockSpec{}, Renew{owner, RequestId::any, 30s}}));
  EXPECT_TRUE(admissible({LockSpec{}, Inspect{}}));
  EXPECT_TRUE(admissible({LockSpec{}, ForceRelease{}}));
}

TEST(Admission, the_source_of_a_forced_release_is_text_of_the_length_that_metadata_has) {
  const auto refusal = [](std::string source) {
    const auto checked = admissible({LockSpec{}, ForceRelease{.source = std::move(source)}});
    return checked ? std::string("none") : checked.error().message;
  };
  EXPECT_EQ(refusal(std::string(max_metadata_bytes, 's')), "none");
  EXPECT_EQ(refusal("gr\xc3\xbc\xc3\x9f\n"), "none");
  EXPECT_EQ(refusal(std::string(max_metadata_bytes + 1, 's')),
            "source must be at most 4096 bytes; got 4097");
  EXPECT_EQ(refusal("b\xe4"), "source must be UTF-8; byte 1 is not");
  EXPECT_EQ(refusal(std::string("a\0b", 3)), "source must not contain NUL; byte 1 is");
}

TEST(Admission, a_ttl_outside_of_its_range_is_refused_for_acquire_and_renew) {
  for (const Micros ttl : {Micros(0), Micros(-1), Micros(Micros::min()), Micros(Micros::max()),
                           Micros(min_ttl - 1us), Micros(max_ttl + 1us)}) {
    auto wanted = acquire();
    wanted.ttl = ttl;
    EXPECT_TRUE(refused({LockSpec::mutex(), wanted}, "ttl must be from 20ms to 24h"));
    EXPECT_TRUE(refused({LockSpec{}, Renew{wanted.owner, RequestId{1}, ttl}}, "ttl must be"));
  }
  for (const Micros ttl : {Micros(min_ttl), Micros(max_ttl)}) {
    auto wanted = acquire();
    wanted.ttl = ttl;
    EXPECT_TRUE(admissible({LockSpec::mutex(), wanted}));
  }
}

TEST(Admission, an_agreed_fence_is_that_of_one_lease_and_leaves_room_above_it) {
  const auto owner = OwnerId::from_random(1, 1);
  const auto most = limits::max_agreed_fence;
  for (const Fence fence : {Fence{1}, Fence{most}}) {
    EXPECT_TRUE(admissible({LockSpec{}, Renew{owner, RequestId{1}, 30s, fence}}));
    EXPECT_TRUE(
        refused({LockSpec{}, Renew{owner, RequestId::any, 30s, fence}}, "request must not"));
  }
  for (const Fence fence : {Fence{most + 1}, Fence{UINT64_MAX}}) {
    EXPECT_TRUE(refused({LockSpec{}, Renew{owner, RequestId{1}, 30s, fence}}, "fence must be at"));
  }
}

TEST(Admission, permits_must_suit_the_kind) {
  EXPECT_TRUE(refused({LockSpec::mutex(), acquire(1)}, "permits of a mutex"));
  EXPECT_TRUE(refused({LockSpec::mutex(), acquire(0)}, "permits of a mutex"));
  EXPECT_TRUE(refused({LockSpec::reentrant(), acquire(all_permits)}, "permits of a reentrant"));
  EXPECT_TRUE(
      refused({LockSpec::election(), acquire(2)}, "permits of a reentrant mutex or election"));
  EXPECT_TRUE(refused({LockSpec::read_write(), acquire(2)}, "permits of a read-write lock"));
  EXPECT_TRUE(refused({LockSpec::read_write(), acquire(0)}, "permits of a read-write lock"));
  EXPECT_TRUE(refused({LockSpec::semaphore(5), acquire(0)}, "from 1 to the semaphore's 5; got 0"));
  EXPECT_TRUE(refused({LockSpec::semaphore(5), acquire(6)}, "from 1 to the semaphore's 5; got 6"));
  EXPECT_TRUE(refused({LockSpec::semaphore(5), acquire(all_permits)}, "permits must be"));
}

TEST(Admission, the_capacity_must_suit_the_kind_whatever_the_verb) {
  EXPECT_TRUE(refused({LockSpec::semaphore(0), acquire(1)}, "capacity of a semaphore"));
  EXPECT_TRUE(refused({LockSpec::semaphore(all_permits), acquire(1)}, "capacity of a semaphore"));
  EXPECT_TRUE(refused({{Kind::mutex, Order::fifo, 1}, acquire()}, "capacity of a mutex"));
  EXPECT_TRUE(refused({{Kind::read_write, Order::fifo, 9}, Inspect{}}, "capacity of a mutex"));
  EXPECT_TRUE(refused({{Kind::reentrant, Order::fifo, 2}, acquire(1)}, "must be 1"));
  EXPECT_TRUE(refused({{Kind::election, Order::fifo, 0}, acquire(1)}, "must be 1"));
}

TEST(Admission, unknown_kinds_and_orders_are_refused) {
  EXPECT_TRUE(refused({{static_cast<Kind>(0), Order::fifo, 1}, acquire(1)}, "kind must be"));
  EXPECT_TRUE(refused({{static_cast<Kind>(6), Order::fifo, 1}, acquire(1)}, "kind must be"));
  EXPECT_TRUE(
      refused({{Kind::mutex, static_cast<Order>(3), all_permits}, acquire()}, "order must be"));
}

TEST(Admission, an_acquire_needs_a_request_and_a_positive_claim) {
  auto wanted = acquire();
  wanted.request = RequestId::any;
  EXPECT_TRUE(refused({LockSpec::mutex(), wanted}, "request of an acquire"));
  for (const Micros claim : {Micros(0), Micros(-5)}) {
    wanted = acquire();
    wanted.claim = claim;
    EXPECT_TRUE(refused({LockSpec::mutex(), wanted}, "claim must be positive"));
  }
}

TEST(Admission, only_read_write_locks_and_mutexes_convert) {
  for (const auto& spec : {LockSpec::reentrant(), LockSpec::semaphore(1), LockSpec::election()}) {
    auto wanted = acquire(1);
    wanted.converts = RequestId{7};
    EXPECT_TRUE(refused({spec, wanted}, "converts is only for"));
  }
  auto wanted = acquire(1);
  wanted.converts = RequestId{7};
  EXPECT_TRUE(admissible({LockSpec::read_write(), wanted}));
}

TEST(Admission, all_metadata_together_has_a_limit) {
  const auto process =
      std::make_shared<ProcessInfo>(ProcessInfo{std::string(1000, 'h'), std::string(1000, 'p'), 1});
  Metadata metadata{process, std::string(1000, 's'), std::string(1000, 'n'), std::string(96, 'v')};
  auto wanted = acquire();
  wanted.metadata = std::make_shared<const Metadata>(metadata);
  EXPECT_TRUE(admissible({LockSpec::mutex(), wanted}));
  metadata.value += 'v';
  wanted.metadata = std::make_shared<const Metadata>(metadata);
  EXPECT_TRUE(refused({LockSpec::mutex(), wanted}, "at most 4096 bytes; got 4097"));
}

TEST(Admission, metadata_found_good_does_not_vouch_for_the_next) {
  auto wanted = acquire();
  for (int repeat = 0; repeat < 3; ++repeat) {
    wanted.metadata = note("good");
    EXPECT_TRUE(admissible({LockSpec::mutex(), wanted}));
    EXPECT_TRUE(admissible({LockSpec::mutex(), wanted}));
    wanted.metadata = note("b\xe4");
    EXPECT_TRUE(refused({LockSpec::mutex(), wanted}, "note must be UTF-8; byte 1 is not"));
  }
}

TEST(Admission, metadata_is_text) {
  auto wanted = acquire();
  for (const auto& text : {"one\ntwo\tthree"s, "\x1b[31mred"s, "für später"s, ""s}) {
    wanted.metadata = note(text);
    EXPECT_TRUE(admissible({LockSpec::mutex(), wanted})) << testing::PrintToString(text);
  }
  wanted.metadata = note("caf\xe9");
  EXPECT_TRUE(refused({LockSpec::mutex(), wanted}, "note must be UTF-8; byte 3 is not"));
  wanted.metadata = note("a\0b"s);
  EXPECT_TRUE(refused({LockSpec::mutex(), wanted}, "note must not contain NUL; byte 1 is"));
  const auto process = std::make_shared<ProcessInfo>(ProcessInfo{"\xff", "", 1});
  wanted.metadata = std::make_shared<Metadata>(Metadata{process, "", "", ""});
  EXPECT_TRUE(refused({LockSpec::mutex(), wanted}, "host must be UTF-8"));
}

}  // namespace
}  // namespace holdfast::model
