// SPDX-License-Identifier: Apache-2.0
//
// Containers that share the folder: every process is the first of its pid namespace, so all of them
// have the same pid and the same thread id.
#include "backends_file/child_process.hpp"
#include "backends_file/file_fixture.hpp"
#include "support/timing.hpp"

#include <gmock/gmock.h>

#include <memory>
#include <vector>

namespace holdfast::test {

namespace {

using ::testing::HasSubstr;

class Containers : public FileStoreTest {
 protected:
  void SetUp() override {
    if (!ChildProcess::can_live_apart()) {
      GTEST_SKIP() << "neither root nor a user namespace can make a pid namespace here";
    }
    environment_ = environment_here();
  }

  std::shared_ptr<Environment> environment_here() {
    return backends::file::shared_environment(
               {.path = folder_.path(), .boot_id = std::string(this_boot)}, *runtime_)
        .value();
  }

  // Opens the store and says 'o'; when told to, says 'e', enters it, says 'i', and stays inside
  // until it is told to leave.
  struct Visitor {
    std::unique_ptr<Pipe> in;
    std::unique_ptr<Pipe> out;
    ChildProcess process;
  };
  Visitor visitor() {
    auto in = std::make_unique<Pipe>();
    auto out = std::make_unique<Pipe>();
    ChildProcess process(Apart{}, [this, in = in.get(), out = out.get()] {
      const auto environment = environment_here();
      out->tell('o');
      in->hear();
      out->tell('e');
      const auto inside = environment->enter(*runtime_, {.deadline = runtime_->now() + 60s});
      if (!inside) return 1;
      out->tell('i');
      in->hear();
      return 0;
    });
    EXPECT_EQ(out->hear(), 'o');
    return {std::move(in), std::move(out), std::move(process)};
  }
  static void enter(const Visitor& visitor) {
    visitor.in->tell('!');
    EXPECT_EQ(visitor.out->hear(), 'e');
  }
  static void leave(Visitor& visitor) {
    visitor.in->tell('!');
    EXPECT_EQ(visitor.process.join(), 0);
  }
  static bool falls_asleep(const Visitor& visitor) {
    return eventually([&] { return visitor.process.state() == 'S'; });
  }

  Result<backends::file::WriterLock> try_to_enter(std::chrono::milliseconds patience) {
    return environment_->enter(*runtime_, {.deadline = runtime_->now() + patience});
  }

  std::shared_ptr<Environment> environment_;
};

TEST_F(Containers, a_process_killed_while_it_waits_does_not_let_others_in_beside_the_holder) {
  std::vector<Visitor> waiters;
  for (int i = 0; i < 4; ++i) waiters.push_back(visitor());
  Visitor holder = visitor();
  enter(holder);
  ASSERT_EQ(holder.out->hear(), 'i');
  for (Visitor& waiter : waiters) {
    enter(waiter);
    ASSERT_TRUE(falls_asleep(waiter));
    waiter.process.kill_now();
    const auto beside = try_to_enter(20ms);
    ASSERT_FALSE(beside) << "two processes are inside";
    EXPECT_EQ(beside.error().code, Errc::unavailable);
  }
  leave(holder);
  EXPECT_TRUE(try_to_enter(60s));
}

TEST_F(Containers, a_process_killed_inside_the_store_frees_it_for_those_who_wait) {
  Visitor holder = visitor();
  Visitor waiter = visitor();
  enter(holder);
  ASSERT_EQ(holder.out->hear(), 'i');
  enter(waiter);
  ASSERT_TRUE(falls_asleep(waiter));
  holder.process.kill_now();
  EXPECT_EQ(waiter.out->hear(), 'i');
  EXPECT_FALSE(try_to_enter(20ms)) << "the waiter is inside";
  waiter.process.kill_now();
  EXPECT_TRUE(try_to_enter(0ms)) << "one look is enough";
}

TEST_F(Containers, a_process_stopped_inside_the_store_keeps_it_until_it_goes_on) {
  Visitor holder = visitor();
  Visitor waiter = visitor();
  enter(holder);
  ASSERT_EQ(holder.out->hear(), 'i');
  kill(holder.process.pid(), SIGSTOP);
  ASSERT_TRUE(eventually([&] { return holder.process.state() == 'T'; }));
  enter(waiter);
  const auto refused = try_to_enter(150ms);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("has been inside the store"));
  EXPECT_EQ(waiter.out->hear(100ms), '?');
  kill(holder.process.pid(), SIGCONT);
  leave(holder);
  EXPECT_EQ(waiter.out->hear(), 'i');
  leave(waiter);
}

TEST_F(Containers, a_waiter_that_was_killed_is_passed_over_and_one_that_lives_is_served) {
  Pipe to_first, from_first, to_second, from_second;
  const auto waiter = [&](std::string_view owner, std::uint64_t request, const Pipe& in,
                          const Pipe& out) {
    return ChildProcess(Apart{}, [=, this, &in, &out] {
      in.hear();
      const auto runtime = runtime::shared_runtime();
      Door door(backends::file::make_file_store(environment_here(), runtime), runtime);
      auto listening =
          door.store().listen(name_of("lock"), owner_of(owner), model::RequestId{request});
      if (!listening) return 1;
      const Ask ask{
          .owner = owner, .request = request, .wait = true, .process = (*listening)->process()};
      if (!is<model::Queued>(door.acquire(ask))) return 2;
      out.tell('q');
      const auto notice = runtime::run_blocking((*listening)->next(runtime->now() + 60s));
      if (notice.reason == store::Notice::Reason::deadline) return 3;
      out.tell(is<model::Granted>(door.acquire(ask)) ? 'g' : 'x');
      return 0;
    });
  };
  ChildProcess first = waiter("ben", 2, to_first, from_first);
  ChildProcess second = waiter("cleo", 3, to_second, from_second);
  Door door = must_open();
  fence_of(door.acquire({.owner = "anna"}));
  to_first.tell('!');
  ASSERT_EQ(from_first.hear(), 'q');
  to_second.tell('!');
  ASSERT_EQ(from_second.hear(), 'q');
  first.kill_now();
  EXPECT_TRUE(is<model::Released>(door.release({.owner = "anna"})));
  EXPECT_EQ(from_second.hear(), 'g');
  EXPECT_EQ(second.join(), 0);
}

TEST_F(Containers, with_a_boot_clock_of_their_own_are_refused) {
  const Apart ahead{.boot_clock = 1000s, .own_clock = true};
  if (!ChildProcess::can_live_apart(ahead)) {
    GTEST_SKIP() << "no time namespace can be made here";
  }
  const auto open_it = [this] {
    const auto door = open();
    if (door) return 0;
    if (door.error().code != Errc::unsupported) return 2;
    return door.error().message.find("the boot clock of this process is +1000.000 s") !=
                   std::string::npos
               ? 1
               : 3;
  };
  EXPECT_EQ(ChildProcess(ahead, open_it).join(), 1);
  const Apart alike{.own_clock = true};
  EXPECT_EQ(ChildProcess(alike, open_it).join(), 0) << "a time namespace with the same boot clock";
}

// The byte that proves the life of a process belongs to its open file, which fork() shares.
TEST_F(Containers, a_forked_child_does_not_keep_its_dead_parent_alive) {
  Pipe to_parent, from_parent, to_child;
  ChildProcess parent([&] {
    const auto environment = environment_here();
    if (fork() == 0) {
      // Lives on without exec, and with all that it inherited.
      to_child.hear();
      _exit(0);
    }
    const auto inside = environment->enter(*runtime_, {.deadline = runtime_->now() + 60s});
    if (!inside) return 1;
    if (fork() == 0) {
      to_child.hear();
      _exit(0);
    }
    from_parent.tell('i');
    pause();
    return 0;
  });
  ASSERT_EQ(from_parent.hear(), 'i');
  EXPECT_FALSE(try_to_enter(20ms));
  parent.kill_now();
  EXPECT_TRUE(try_to_enter(0ms));
  to_child.tell('!');
  to_child.tell('!');
}

TEST_F(Containers, a_parent_stays_alive_when_its_forked_child_ends) {
  Pipe to_parent, from_parent;
  ChildProcess parent([&] {
    const auto environment = environment_here();
    const auto inside = environment->enter(*runtime_, {.deadline = runtime_->now() + 60s});
    if (!inside) return 1;
    if (ChildProcess([] { return 0; }).join() != 0) return 2;
    from_parent.tell('i');
    to_parent.hear();
    return 0;
  });
  ASSERT_EQ(from_parent.hear(), 'i');
  EXPECT_FALSE(try_to_enter(20ms));
  to_parent.tell('!');
  EXPECT_EQ(parent.join(), 0);
  EXPECT_TRUE(try_to_enter(60s));
}

}  // namespace

}  // namespace holdfast::test
