// SPDX-License-Identifier: Apache-2.0
#include "store/mailbox.hpp"

#include "runtime/spawn.hpp"
#include "support/hand_runtime.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

namespace holdfast::store {
namespace {

using namespace std::chrono_literals;
using model::RequestId;
using test::HandRuntime;

const LockName orders = LockName::make("orders").value();
const OwnerId anna = OwnerId::make("anna").value();

model::Message grant_for(std::uint64_t request, Fence fence = 7) {
  return {.process = model::ProcessId{1},
          .owner = anna,
          .request = RequestId{request},
          .grant = model::Grant{.fence = fence, .at = {}, .lease = 500ms}};
}
model::Message hint_for(std::uint64_t request) {
  return {
      .process = model::ProcessId{1}, .owner = anna, .request = RequestId{request}, .grant = {}};
}

class MailboxTest : public testing::Test {
 public:
  MailboxTest() {
    mailbox->on_unwanted([this](const LockName&, const OwnerId&, RequestId request) {
      unwanted.push_back(request);
    });
  }
  std::unique_ptr<Listening> listen(std::uint64_t request) {
    return mailbox->listen(RequestId{request}, model::ProcessId{1});
  }
  // What the listener hears next, if anything has come.
  std::optional<Notice> hear(Listening& ear) {
    auto heard = std::make_shared<std::optional<Notice>>();
    runtime::spawn(ear.next(runtime->now()), [heard](Notice&& notice) { *heard = notice; });
    runtime->advance(0s);
    return *heard;
  }
  std::optional<Notice::Reason> reason(Listening& ear) {
    const auto notice = hear(ear);
    return notice ? std::optional(notice->reason) : std::nullopt;
  }

  std::shared_ptr<HandRuntime> runtime = std::make_shared<HandRuntime>();
  std::unique_ptr<Mailbox> mailbox = std::make_unique<Mailbox>(runtime);
  std::vector<RequestId> unwanted;
};

TEST_F(MailboxTest, brings_a_grant_to_the_one_who_listens_for_it) {
  const auto one = listen(1);
  const auto two = listen(2);
  mailbox->deliver(orders, grant_for(2, 99));
  EXPECT_EQ(reason(*one), Notice::Reason::deadline);
  const auto heard = hear(*two);
  EXPECT_EQ(heard->reason, Notice::Reason::granted);
  EXPECT_EQ(heard->grant.fence, 99U);
}

TEST_F(MailboxTest, keeps_what_is_said_between_two_questions) {
  const auto ear = listen(1);
  mailbox->deliver(orders, hint_for(1));
  EXPECT_EQ(reason(*ear), Notice::Reason::hint);
  EXPECT_EQ(reason(*ear), Notice::Reason::deadline);
  mailbox->deliver(orders, grant_for(1));
  EXPECT_EQ(reason(*ear), Notice::Reason::granted);
}

TEST_F(MailboxTest, a_grant_outranks_a_hint_whichever_came_first) {
  const auto ear = listen(1);
  mailbox->deliver(orders, hint_for(1));
  mailbox->deliver(orders, grant_for(1));
  mailbox->deliver(orders, hint_for(1));
  EXPECT_EQ(reason(*ear), Notice::Reason::granted);
  EXPECT_EQ(reason(*ear), Notice::Reason::deadline);
}

TEST_F(MailboxTest, a_newer_grant_replaces_an_older_one) {
  const auto ear = listen(1);
  mailbox->deliver(orders, grant_for(1, 7));
  mailbox->deliver(orders, grant_for(1, 8));
  EXPECT_EQ(hear(*ear)->grant.fence, 8U);
}

TEST_F(MailboxTest, a_poke_ends_the_wait_now_or_the_coming_one) {
  const auto ear = listen(1);
  ear->poke();
  EXPECT_EQ(reason(*ear), Notice::Reason::poked);
  std::optional<Notice> heard;
  runtime::spawn(ear->next(runtime->now() + 1h), [&](Notice&& notice) { heard = notice; });
  EXPECT_FALSE(heard);
  ear->poke();
  EXPECT_EQ(heard->reason, Notice::Reason::poked);
}

TEST_F(MailboxTest, a_poke_does_not_hide_a_grant) {
  const auto ear = listen(1);
  ear->poke();
  mailbox->deliver(orders, grant_for(1));
  EXPECT_EQ(reason(*ear), Notice::Reason::granted);
  EXPECT_EQ(reason(*ear), Notice::Reason::poked);
}

TEST_F(MailboxTest, a_grant_that_nobody_hears_is_reported_later_and_not_inside_the_delivery) {
  mailbox->deliver(orders, grant_for(5));
  EXPECT_TRUE(unwanted.empty());
  runtime->run();
  EXPECT_EQ(unwanted, std::vector{RequestId{5}});
}

TEST_F(MailboxTest, a_grant_that_came_while_its_waiter_was_giving_up_is_given_back) {
  auto ear = listen(5);
  mailbox->deliver(orders, grant_for(5));
  ear.reset();
  runtime->run();
  EXPECT_EQ(unwanted, std::vector{RequestId{5}});
}

TEST_F(MailboxTest, a_grant_that_was_read_is_not_given_back) {
  auto ear = listen(5);
  mailbox->deliver(orders, grant_for(5));
  EXPECT_EQ(reason(*ear), Notice::Reason::granted);
  ear.reset();
  runtime->run();
  EXPECT_TRUE(unwanted.empty());
}

TEST_F(MailboxTest, a_hint_that_nobody_hears_ends_the_wait_it_was_meant_for) {
  mailbox->deliver(orders, hint_for(5));
  runtime->run();
  EXPECT_EQ(unwanted, std::vector{RequestId{5}});
}

TEST_F(MailboxTest, a_hint_without_a_name_that_nobody_hears_is_nothing) {
  mailbox->hint(RequestId{5});
  runtime->run();
  EXPECT_TRUE(unwanted.empty());
}

TEST_F(MailboxTest, hears_from_the_making_of_the_ear_to_its_end) {
  EXPECT_FALSE(mailbox->hears(RequestId{1}));
  auto ear = listen(1);
  EXPECT_TRUE(mailbox->hears(RequestId{1}));
  ear.reset();
  EXPECT_FALSE(mailbox->hears(RequestId{1}));
}

TEST_F(MailboxTest, the_end_of_an_older_ear_does_not_deafen_a_newer_one) {
  auto old = listen(1);
  const auto anew = listen(1);
  old.reset();
  mailbox->deliver(orders, grant_for(1));
  EXPECT_EQ(reason(*anew), Notice::Reason::granted);
}

TEST_F(MailboxTest, a_hint_for_all_reaches_all) {
  const auto one = listen(1);
  const auto two = listen(2);
  mailbox->hint_all();
  EXPECT_EQ(reason(*one), Notice::Reason::hint);
  EXPECT_EQ(reason(*two), Notice::Reason::hint);
}

TEST_F(MailboxTest, hints_in_turn_make_no_herd_of_many_waiters) {
  constexpr std::uint64_t crowd = 1000;
  std::vector<std::unique_ptr<Listening>> ears;
  for (std::uint64_t each = 1; each <= crowd; ++each) ears.push_back(listen(each));
  std::size_t told = 0;
  std::size_t most_at_once = 0;
  const auto count = [&] {
    std::size_t now = 0;
    for (const auto& ear : ears) now += reason(*ear) == Notice::Reason::hint ? 1 : 0;
    told += now;
    most_at_once = std::max(most_at_once, now);
  };
  mailbox->hint_all_in_turn();
  count();
  for (int each = 0; each < 50; ++each) {
    runtime->advance(10ms);
    count();
  }
  EXPECT_EQ(told, crowd) << "within half a second";
  EXPECT_LE(most_at_once, crowd / 40);
}

TEST_F(MailboxTest, hints_in_turn_do_not_keep_a_few_waiters_waiting) {
  const auto one = listen(1);
  const auto two = listen(2);
  mailbox->hint_all_in_turn();
  EXPECT_EQ(reason(*one), Notice::Reason::hint);
  EXPECT_EQ(reason(*two), Notice::Reason::hint);
}

TEST_F(MailboxTest, a_hint_in_turn_may_come_after_its_ear_and_its_mailbox) {
  std::vector<std::unique_ptr<Listening>> ears;
  for (std::uint64_t each = 1; each <= 100; ++each) ears.push_back(listen(each));
  mailbox->hint_all_in_turn();
  ears.clear();
  runtime->advance(100ms);
  mailbox.reset();
  runtime->advance(1s);
  EXPECT_TRUE(runtime->settle());
}

TEST_F(MailboxTest, an_ear_may_outlive_its_mailbox) {
  const auto ear = listen(1);
  mailbox->deliver(orders, grant_for(1));
  mailbox.reset();
  EXPECT_EQ(reason(*ear), Notice::Reason::granted);
  EXPECT_EQ(reason(*ear), Notice::Reason::deadline);
}

TEST_F(MailboxTest, a_grant_that_nobody_hears_is_nothing_once_the_store_is_gone) {
  mailbox->deliver(orders, grant_for(5));
  mailbox.reset();
  runtime->run();
  EXPECT_TRUE(unwanted.empty());
}

TEST_F(MailboxTest, a_waiter_that_is_resumed_may_end_its_own_ear) {
  auto ear = listen(1);
  runtime::spawn(ear->next(runtime->now() + 1h), [&](Notice&&) { ear.reset(); });
  mailbox->deliver(orders, grant_for(1));
  EXPECT_EQ(ear, nullptr);
  EXPECT_FALSE(mailbox->hears(RequestId{1}));
}

TEST(MailboxOnThreads, every_grant_is_heard_once_however_it_races_with_the_deadline) {
  constexpr int rounds = 300;
  const auto runtime = runtime::shared_runtime();
  Mailbox mailbox(runtime);
  mailbox.on_unwanted([](const LockName&, const OwnerId&, RequestId) { ADD_FAILURE(); });
  for (int i = 1; i <= rounds; ++i) {
    const auto request = static_cast<std::uint64_t>(i);
    const auto ear = mailbox.listen(RequestId{request}, model::ProcessId{1});
    std::jthread teller([&] { mailbox.deliver(orders, grant_for(request)); });
    int heard = 0;
    const auto listen_for = [&](std::chrono::microseconds time) {
      const auto notice = runtime::run_blocking(ear->next(runtime->now() + time));
      if (notice.reason == Notice::Reason::granted) ++heard;
    };
    listen_for(std::chrono::microseconds(i % 200));
    teller.join();
    listen_for(0us);
    ASSERT_EQ(heard, 1);
  }
}

// A lease keeps its ear, and a forked child ends its copy of the lease; the mailbox may have been
// locked by another thread at that moment.
TEST(MailboxOnThreads, a_forked_child_ends_its_ear_without_waiting_for_a_thread_of_the_parent) {
  const auto runtime = runtime::shared_runtime();
  Mailbox mailbox(runtime);
  auto ear = mailbox.listen(RequestId{1}, model::ProcessId{1});
  std::jthread busy([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) (void)mailbox.hears(RequestId{1});
  });
  for (int i = 0; i < 30; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(10);
      ear.reset();
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_EQ(status, 0) << "round " << i;
  }
  EXPECT_TRUE(mailbox.hears(RequestId{1}));
}

}  // namespace
}  // namespace holdfast::store
