// SPDX-License-Identifier: Apache-2.0
//
// After fork() the child has a copy of everything but the threads. What the parent opened is the
// parent's.
#include "client/real_client.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <functional>

namespace holdfast::test {
namespace {

// The child of a program with threads may start none under ThreadSanitizer.
#ifdef __SANITIZE_THREAD__
constexpr bool child_may_start_threads = false;
#else
constexpr bool child_may_start_threads = true;
#endif

// Runs `work` in a child; the number it returns, or -1 if it hung or died.
int in_child(const std::function<int()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(120);
    _exit(work());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// The first of the conditions that is not true, counted from 1; 0 if all are.
int first_false(std::initializer_list<bool> conditions) {
  int number = 0;
  for (const bool condition : conditions) {
    ++number;
    if (!condition) return number;
  }
  return 0;
}

template <typename T>
bool is_unavailable(const Result<T>& result) {
  return !result && result.error().code == Errc::unavailable;
}

TEST(Fork, every_call_of_the_child_on_the_parents_client_is_unavailable) {
  const auto client = real_client();
  auto lease = value_of(client.mutex("orders").acquire());
  auto lock = client.mutex("other");
  EXPECT_EQ(in_child([&] {
              return first_false(
                  {is_unavailable(lock.try_acquire()), is_unavailable(lock.acquire({.wait = 1s})),
                   is_unavailable(runtime::run_blocking(lock.async_acquire())),
                   is_unavailable(lease.extend(10s)), is_unavailable(lease.release()),
                   is_unavailable(client.inspect("orders")), is_unavailable(client.list()),
                   is_unavailable(client.force_release("orders", "a test")),
                   is_unavailable(client.adopt("orders", lease.owner().str()))});
            }),
            0);
  EXPECT_TRUE(lease.valid());
  EXPECT_EQ(value_of(lease.release()), Released::released);
}

class CountingEnds final : public Tracer {
 public:
  std::uint64_t start(std::string_view, TraceAttributes) override { return 1; }
  void end(std::uint64_t, TraceAttributes) override { ++ends; }
  int ends = 0;
};

TEST(Fork, the_child_counts_traces_and_releases_nothing_of_the_parents) {
  const auto client = real_client();
  const auto tracer = std::make_shared<CountingEnds>();
  client.trace(tracer);
  auto lease = std::make_optional(value_of(client.mutex("orders").acquire()));
  const int ends = tracer->ends;
  EXPECT_EQ(in_child([&] {
              const bool is_refused = is_unavailable(client.release_all());
              client.trace(nullptr);
              const auto counted = client.metrics();
              lease.reset();
              return first_false({is_refused, counted.held == 0, tracer->ends == ends});
            }),
            0);
  EXPECT_EQ(client.metrics().held, 1U);
  EXPECT_EQ(value_of(client.release_all()).released, 1U);
  EXPECT_EQ(tracer->ends, ends + 1);
}

TEST(Fork, the_childs_destructors_give_nothing_back) {
  const auto runtime = runtime::shared_runtime();
  const auto store = backends::memory::make_memory_store(runtime);
  auto client = std::make_optional(Client(client::make_core(store, runtime)));
  auto lease = std::make_optional(value_of(client->mutex("orders").acquire()));
  auto locked = std::make_optional(client->mutex("locked"));
  locked->lock();
  EXPECT_EQ(in_child([&] {
              lease.reset();
              locked.reset();
              client.reset();
              const auto page = store->list({}).take_ready();
              return first_false({page.has_value(), page->locks.size() == 2});
            }),
            0);
  locked->unlock();
  EXPECT_EQ(value_of(lease->release()), Released::released);
}

TEST(Fork, the_end_of_the_child_leaves_the_parents_renewal_running) {
  auto client = std::make_optional(real_client());
  auto lease = std::make_optional(
      value_of(client->mutex("orders").acquire({.ttl = 60s, .renew_every = 50ms})));
  const auto child = [&] {
    lease->detach();
    lease.reset();
    client.reset();
    return 0;
  };
  EXPECT_EQ(in_child(child), 0);
  ASSERT_TRUE(lease.has_value());
  EXPECT_TRUE(gets_renewed(*lease, 3)) << "the child's end stopped the parent's timers";
  EXPECT_EQ(value_of(lease->release()), Released::released);
}

TEST(Fork, the_child_opens_its_own_and_everything_works) {
  if (!child_may_start_threads) GTEST_SKIP();
  const auto parents = real_client();
  const auto lease = value_of(parents.mutex("orders").acquire());
  EXPECT_EQ(in_child([] {
              const auto client = real_client();
              auto mine = client.mutex("orders").acquire({.ttl = 60s, .renew_every = 50ms});
              if (!mine) return 10;
              const auto timed_out = client.mutex("orders").acquire({.wait = 100ms});
              return first_false({!timed_out, timed_out.error().code == Errc::timed_out,
                                  gets_renewed(*mine, 3), mine->release().has_value()});
            }),
            0);
}

TEST(Fork, a_named_memory_store_of_the_parent_is_not_the_childs) {
  if (!child_may_start_threads) GTEST_SKIP();
  const auto open = [] {
    auto runtime = runtime::shared_runtime();
    return Client(
        client::make_core(backends::memory::shared_memory_store("shop", runtime), runtime));
  };
  const auto parents = open();
  const auto lease = value_of(parents.mutex("orders").acquire());
  EXPECT_EQ(in_child([&] {
              const auto client = open();
              auto mine = client.mutex("orders").acquire();
              if (!mine) return 10;
              const auto timed_out = client.mutex("orders").acquire({.wait = 50ms});
              return first_false({!timed_out, timed_out.error().code == Errc::timed_out});
            }),
            0);
  EXPECT_TRUE(lease.valid());
}

}  // namespace
}  // namespace holdfast::test
