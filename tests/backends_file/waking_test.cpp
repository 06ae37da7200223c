// SPDX-License-Identifier: Apache-2.0
#include "backends/file/slots.hpp"
#include "backends_file/child_process.hpp"
#include "backends_file/file_fixture.hpp"

#include <atomic>
#include <future>
#include <thread>
#include <vector>

namespace holdfast::test {

namespace {

using backends::file::claim_slot;
using backends::file::give_back_slot;
using backends::file::is_listening;
using backends::file::max_waiting_processes;
using backends::file::ring_size;
using backends::file::send;
using backends::file::wake_up;

class Waking : public FileStoreTest {
 protected:
  Door door_of(const std::shared_ptr<runtime::Runtime>& runtime) {
    auto environment = backends::file::shared_environment(
        {.path = folder_.path(), .boot_id = std::string(this_boot)}, *runtime);
    return Door(backends::file::make_file_store(std::move(*environment), runtime), runtime);
  }

  std::shared_ptr<Environment> environment_here() {
    return backends::file::shared_environment(
               {.path = folder_.path(), .boot_id = std::string(this_boot)}, *runtime_)
        .value();
  }

  // Queues once it is told to, says 'q', and waits: 'n' if nothing came, and if something did, asks
  // again: 'g' if it is granted, 'x' if it still has to wait.
  ChildProcess waiter(std::string_view owner, std::uint64_t request, const Pipe& in,
                      const Pipe& out, std::chrono::milliseconds patience) {
    return ChildProcess([=, this, &in, &out] {
      in.hear();
      const auto runtime = runtime::shared_runtime();
      Door door = door_of(runtime);
      auto listening =
          door.store().listen(name_of("lock"), owner_of(owner), model::RequestId{request});
      if (!listening) return 1;
      const Ask ask{
          .owner = owner, .request = request, .wait = true, .process = (*listening)->process()};
      if (!is<model::Queued>(door.acquire(ask))) return 2;
      out.tell('q');
      const auto notice = runtime::run_blocking((*listening)->next(runtime->now() + patience));
      if (notice.reason == store::Notice::Reason::deadline)
        out.tell('n');
      else
        out.tell(is<model::Granted>(door.acquire(ask)) ? 'g' : 'x');
      return 0;
    });
  }

  Pipe to_first_, from_first_, to_second_, from_second_;
};

TEST_F(Waking, a_release_wakes_the_first_waiter_of_another_process_and_nobody_else) {
  ChildProcess first = waiter("ben", 2, to_first_, from_first_, 60s);
  ChildProcess second = waiter("cleo", 3, to_second_, from_second_, 500ms);
  Door door = must_open();
  fence_of(door.acquire({.owner = "anna"}));
  to_first_.tell('!');
  ASSERT_EQ(from_first_.hear(), 'q');
  to_second_.tell('!');
  ASSERT_EQ(from_second_.hear(), 'q');
  EXPECT_TRUE(is<model::Released>(door.release({.owner = "anna"})));
  EXPECT_EQ(from_first_.hear(), 'g');
  EXPECT_EQ(from_second_.hear(), 'n');
  EXPECT_EQ(first.join(), 0);
  EXPECT_EQ(second.join(), 0);
}

TEST_F(Waking, a_waiter_whose_process_was_killed_is_passed_over_at_once) {
  ChildProcess first = waiter("ben", 2, to_first_, from_first_, 60s);
  ChildProcess second = waiter("cleo", 3, to_second_, from_second_, 60s);
  Door door = must_open();
  fence_of(door.acquire({.owner = "anna"}));
  to_first_.tell('!');
  ASSERT_EQ(from_first_.hear(), 'q');
  to_second_.tell('!');
  ASSERT_EQ(from_second_.hear(), 'q');
  first.kill_now();
  EXPECT_TRUE(is<model::Released>(door.release({.owner = "anna"})));
  EXPECT_EQ(from_second_.hear(), 'g');
  EXPECT_EQ(second.join(), 0);
}

TEST_F(Waking, a_process_killed_inside_the_store_makes_every_waiter_look_again) {
  ChildProcess first = waiter("ben", 2, to_first_, from_first_, 60s);
  ChildProcess killed([this] {
    to_second_.hear();
    auto environment = backends::file::shared_environment(
        {.path = folder_.path(), .boot_id = std::string(this_boot)}, *runtime_);
    auto inside = (*environment)->enter(*runtime_, {.deadline = runtime_->now() + 60s});
    from_second_.tell('i');
    pause();
    return 0;
  });
  Door door = must_open();
  fence_of(door.acquire({.owner = "anna"}));
  to_first_.tell('!');
  ASSERT_EQ(from_first_.hear(), 'q');
  to_second_.tell('!');
  ASSERT_EQ(from_second_.hear(), 'i');
  killed.kill_now();
  // Whoever enters next finds the dead one, and asks everybody to look again.
  EXPECT_TRUE(is<model::Seen>(door.inspect({.name = "another"})));
  EXPECT_EQ(from_first_.hear(), 'x');
  EXPECT_EQ(first.join(), 0);
}

TEST_F(Waking, more_messages_than_a_ring_holds_become_one_hint_for_everybody) {
  const auto runtime = runtime::shared_runtime();
  auto environment = backends::file::shared_environment(
      {.path = folder_.path(), .boot_id = std::string(this_boot)}, *runtime);
  ASSERT_TRUE(environment);
  const auto store = backends::file::make_file_store(*environment, runtime);
  auto& wake = (*environment)->wake().layout();
  auto listening = store->listen(name_of("lock"), owner_of("anna"), model::RequestId{7});
  ASSERT_TRUE(listening);
  const auto process = (*listening)->process();
  for (std::uint64_t i = 0; i < 10 * ring_size; ++i)
    send(wake, process, {model::RequestId{1000 + i}});
  wake_up(wake, process);
  const auto notice = runtime::run_blocking((*listening)->next(runtime->now() + 60s));
  EXPECT_EQ(notice.reason, store::Notice::Reason::hint);
}

TEST_F(Waking, a_hand_over_in_the_ring_arrives_as_it_was_sent) {
  const auto environment = backends::file::shared_environment(
      {.path = folder_.path(), .boot_id = std::string(this_boot)}, *runtime_);
  ASSERT_TRUE(environment);
  auto& wake = (*environment)->wake().layout();
  const auto process = claim_slot((*environment)->wake(), 1 << 20);
  send(wake, *process, {model::RequestId{5}, model::Grant{42, model::StoreTime(3s), 500ms}});
  const auto& slot = backends::file::slot_of(wake, *process);
  const auto said = backends::file::read_ring(slot, 0);
  EXPECT_EQ(said.request, model::RequestId{5});
  ASSERT_TRUE(said.grant);
  EXPECT_EQ(said.grant->fence, 42U);
  EXPECT_EQ(said.grant->at, model::StoreTime(3s));
  EXPECT_EQ(said.grant->lease, 500ms);
  for (std::uint32_t i = 1; i < ring_size; ++i) send(wake, *process, {});
  EXPECT_TRUE(backends::file::is_overrun(slot, 0)) << "the next message would be written over it";
  EXPECT_FALSE(backends::file::is_overrun(slot, 1));
  give_back_slot(wake, *process);
}

TEST_F(Waking, the_slots_are_limited_and_the_one_too_many_is_told_the_limit) {
  const auto environment = backends::file::shared_environment(
      {.path = folder_.path(), .boot_id = std::string(this_boot)}, *runtime_);
  ASSERT_TRUE(environment);
  auto& wake = (*environment)->wake().layout();
  std::vector<model::ProcessId> taken;
  while (const auto slot = claim_slot((*environment)->wake(), runtime_->random())) {
    taken.push_back(*slot);
  }
  EXPECT_EQ(taken.size(), max_waiting_processes);
  const auto store = backends::file::make_file_store(*environment, runtime_);
  const auto refused = store->listen(name_of("lock"), owner_of("anna"), model::RequestId{7});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::limit_reached);
  EXPECT_NE(refused.error().message.find("max_waiting_processes"), std::string::npos);
  for (const auto slot : taken) give_back_slot(wake, slot);
  EXPECT_TRUE(store->listen(name_of("lock"), owner_of("anna"), model::RequestId{7}));
}

TEST_F(Waking, a_slot_of_a_dead_process_is_found_dead_and_used_again) {
  const auto environment = environment_here();
  const auto& file = environment->wake();
  auto& wake = file.layout();
  const auto kept = claim_slot(file, 1 << 20);
  ChildProcess child([&] {
    const auto own = environment_here();
    claim_slot(own->wake(), 2 << 20);
    from_first_.tell('c');
    pause();
    return 0;
  });
  ASSERT_EQ(from_first_.hear(), 'c');
  const model::ProcessId process{wake.listeners[1].load()};
  EXPECT_TRUE(is_listening(file, *kept));
  EXPECT_TRUE(is_listening(file, process));
  child.kill_now();
  EXPECT_FALSE(is_listening(file, process));
  EXPECT_EQ(wake.listeners[1].load(), 0U);
  const auto next = claim_slot(file, 3 << 20);
  EXPECT_FALSE(is_listening(file, process)) << "the next user of a slot is somebody else";
  give_back_slot(wake, *next);
  give_back_slot(wake, *kept);
}

TEST_F(Waking, slots_of_dead_processes_are_used_when_no_other_is_free) {
  const auto environment = environment_here();
  const auto& file = environment->wake();
  ChildProcess child([&] {
    const auto own = environment_here();
    while (claim_slot(own->wake(), 2 << 20)) {
    }
    from_first_.tell('c');
    pause();
    return 0;
  });
  ASSERT_EQ(from_first_.hear(), 'c');
  EXPECT_FALSE(claim_slot(file, 1 << 20));
  child.kill_now();
  const auto slot = claim_slot(file, 1 << 20);
  ASSERT_TRUE(slot);
  EXPECT_TRUE(is_listening(file, *slot));
  give_back_slot(file.layout(), *slot);
}

TEST_F(Waking, a_store_may_be_dropped_by_the_waiter_that_it_resumed) {
  const auto runtime = runtime::shared_runtime();
  auto environment = backends::file::shared_environment(
      {.path = folder_.path(), .boot_id = std::string(this_boot)}, *runtime);
  ASSERT_TRUE(environment);
  StorePtr store = backends::file::make_file_store(*environment, runtime);
  auto listening = store->listen(name_of("lock"), owner_of("anna"), model::RequestId{7});
  ASSERT_TRUE(listening);
  const auto process = (*listening)->process();
  std::promise<void> dropped;
  runtime::spawn((*listening)->next(runtime->now() + 60s), [&](store::Notice&&) {
    store.reset();
    dropped.set_value();
  });
  auto& wake = (*environment)->wake().layout();
  send(wake, process, {model::RequestId{7}});
  wake_up(wake, process);
  EXPECT_EQ(dropped.get_future().wait_for(60s), std::future_status::ready);
}

}  // namespace

}  // namespace holdfast::test
