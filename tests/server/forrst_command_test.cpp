// SPDX-License-Identifier: Apache-2.0
//
// Functions whose work a program does, without a server around them.
#include "forrst_fixture.hpp"
#include "server/forrst/command_function.hpp"
#include "server/options.hpp"

#include <fcntl.h>
#include <signal.h>

#include <thread>

namespace holdfast::server {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using forrst::Invocation;
using forrst::Outcome;

class ForrstCommand : public ForrstTest {
 protected:
  static Invocation call_of(boost::json::object arguments = {}) {
    return {.id = "req_7",
            .function = "a.b",
            .version = "1.0.0",
            .arguments = std::move(arguments),
            .deadline = Clock::now() + 60s};
  }
  static Outcome run(std::vector<std::string> words, const Invocation& call) {
    return command_function(std::move(words))(call);
  }
  Outcome run_script(const std::string& text, const Invocation& call = call_of()) {
    return run({script("script", text)}, call);
  }
  pid_t pid_in(const std::string& name) { return std::stoi("0" + written(name)); }
};

std::string code_of(const Outcome& outcome) { return outcome ? "ok" : outcome.error().code; }

TEST_F(ForrstCommand, its_input_is_the_arguments_and_its_output_the_result) {
  const auto outcome = run({"cat"}, call_of({{"amount", 7}, {"to", "line\nend"}}));
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(boost::json::serialize(*outcome), R"({"amount":7,"to":"line\nend"})");
}

TEST_F(ForrstCommand, words_are_for_no_shell) {
  const auto outcome = run({"/bin/echo", "\"$HOME;`id`\""}, call_of());
  ASSERT_TRUE(outcome);
  EXPECT_EQ(*outcome, boost::json::value("$HOME;`id`"));
}

TEST_F(ForrstCommand, no_output_is_null) {
  const auto outcome = run({"true"}, call_of());
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(outcome->is_null());
}

TEST_F(ForrstCommand, is_told_of_the_lock_and_the_key) {
  auto call = call_of();
  call.lock =
      forrst::HeldLock{.key = "user:1", .full_key = "lock:a.b:user:1", .owner = "me", .fence = 42};
  call.idempotency_key = "k1";
  call.took_over = true;
  const auto outcome =
      run_script(R"(echo "\"$HOLDFAST_FENCE $HOLDFAST_NAME $HOLDFAST_OWNER $HOLDFAST_REQUEST_ID )"
                 R"($HOLDFAST_KEY $HOLDFAST_TOOK_OVER\"")",
                 call);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(*outcome, boost::json::value("42 lock:a.b:user:1 me req_7 k1 true"));
}

TEST_F(ForrstCommand, without_a_lock_it_is_not_told_of_the_servers_own) {
  setenv("HOLDFAST_OWNER", "the server's", 1);
  setenv("HOLDFAST_TEST_KEPT", "kept", 1);
  const auto outcome = run_script(R"(echo "\"${HOLDFAST_OWNER-none} $HOLDFAST_TEST_KEPT\"")");
  unsetenv("HOLDFAST_OWNER");
  unsetenv("HOLDFAST_TEST_KEPT");
  ASSERT_TRUE(outcome);
  EXPECT_EQ(*outcome, boost::json::value("none kept"));
}

TEST_F(ForrstCommand, says_why_it_failed_or_only_that_it_did) {
  const auto told = run_script(
      R"(echo '{"code":"OUT_OF_STOCK","message":"none left","details":{"left":0}}'; exit 3)");
  ASSERT_FALSE(told);
  EXPECT_EQ(told.error().code, "OUT_OF_STOCK");
  EXPECT_EQ(told.error().message, "none left");
  EXPECT_EQ(boost::json::serialize(told.error().details), R"({"left":0})");

  const auto silent = run_script("echo /etc/secret >&2; exit 3");
  EXPECT_EQ(code_of(silent), "INTERNAL_ERROR");
  EXPECT_EQ(boost::json::serialize(silent.error().details), R"({"exit_code":3})");
  EXPECT_EQ(silent.error().message.find("secret"), std::string::npos);

  EXPECT_EQ(code_of(run_script(R"(echo '{"code":"lower","message":"x"}'; exit 1)")),
            "INTERNAL_ERROR");
  EXPECT_EQ(code_of(run_script("kill -9 $$")), "INTERNAL_ERROR");
  EXPECT_EQ(code_of(run_script("echo hello")), "INTERNAL_ERROR");
  // Good is good, whatever it looks like.
  EXPECT_EQ(code_of(run_script(R"(echo '{"code":"X","message":"y"}')")), "ok");
}

TEST_F(ForrstCommand, one_that_cannot_be_started_did_nothing) {
  EXPECT_EQ(code_of(run({"/no/such/program"}, call_of())), "UNAVAILABLE");
  EXPECT_EQ(code_of(run({"no-such-program"}, call_of())), "UNAVAILABLE");
  const auto path = file("no-interpreter");
  std::ofstream(path) << "#!/no/such/interpreter\n";
  ASSERT_EQ(chmod(path.c_str(), 0700), 0);
  EXPECT_EQ(code_of(run({path}, call_of())), "UNAVAILABLE");
}

TEST_F(ForrstCommand, one_that_writes_too_much_is_ended) {
  EXPECT_EQ(code_of(run_script("head -c 2097152 /dev/zero")), "INTERNAL_ERROR");
  EXPECT_EQ(code_of(run_script("yes")), "INTERNAL_ERROR");
  const auto most =
      run_script("printf '\"'; head -c " + std::to_string(max_command_output_bytes - 2) +
                 " /dev/zero | tr '\\0' x; printf '\"'");
  ASSERT_TRUE(most) << most.error().message;
  EXPECT_EQ(most->as_string().size(), max_command_output_bytes - 2);
}

TEST_F(ForrstCommand, one_that_never_reads_its_input_is_not_waited_for) {
  const auto call = call_of({{"long", std::string(1 << 20U, 'x')}});
  const auto outcome = run_script("exec 0<&-; echo 1", call);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(*outcome, boost::json::value(1));
  // And one that keeps it open.
  const auto kept = run_script("echo 2", call);
  ASSERT_TRUE(kept) << kept.error().message;
  EXPECT_EQ(*kept, boost::json::value(2));
}

TEST_F(ForrstCommand, both_pipes_may_be_full_at_once) {
  const auto call = call_of({{"long", std::string(900'000, 'x')}});
  const auto outcome = run({"cat"}, call);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->at("long").as_string().size(), 900'000U);
}

TEST_F(ForrstCommand, a_flood_of_complaints_does_not_keep_it_from_ending) {
  const auto outcome = run_script("head -c 5000000 /dev/zero >&2; echo 1");
  ASSERT_TRUE(outcome);
  EXPECT_EQ(*outcome, boost::json::value(1));
}

TEST_F(ForrstCommand, its_time_ends_it_and_all_that_it_started) {
  auto call = call_of();
  call.deadline = Clock::now() + test::stretched(1s);
  const auto outcome = run_script(
      fmt::format("sleep 1000 & echo $! > {}; echo $$ > {}; wait", file("grandchild"), file("own")),
      call);
  EXPECT_EQ(code_of(outcome), "DEADLINE_EXCEEDED");
  EXPECT_FALSE(test::is_running(pid_in("own")));
  EXPECT_TRUE(test::eventually([&] { return !test::is_running(pid_in("grandchild")); }));
}

TEST_F(ForrstCommand, one_that_ignores_sigterm_is_killed) {
  auto call = call_of();
  call.deadline = Clock::now() + test::stretched(500ms);
  const auto outcome = run_script(
      fmt::format("trap '' TERM; echo $$ > {}; while :; do sleep 0.1; done", file("own")), call);
  EXPECT_EQ(code_of(outcome), "DEADLINE_EXCEEDED");
  EXPECT_FALSE(test::is_running(pid_in("own")));
}

TEST_F(ForrstCommand, one_that_nobody_needs_any_more_is_ended) {
  std::stop_source source;
  auto call = call_of();
  call.stop = source.get_token();
  std::jthread stopper([&] {
    written("own");
    source.request_stop();
  });
  const auto outcome = run_script(fmt::format("echo $$ > {}; exec sleep 1000", file("own")), call);
  EXPECT_EQ(code_of(outcome), "INTERNAL_ERROR");
  EXPECT_FALSE(test::is_running(pid_in("own")));
}

TEST_F(ForrstCommand, one_whose_time_is_over_before_it_began_does_not_begin) {
  auto call = call_of();
  call.deadline = Clock::now();
  EXPECT_EQ(code_of(run_script("echo x > " + file("ran"), call)), "UNAVAILABLE");
  std::stop_source source;
  source.request_stop();
  call = call_of();
  call.stop = source.get_token();
  EXPECT_EQ(code_of(run_script("echo x > " + file("ran"), call)), "UNAVAILABLE");
  EXPECT_FALSE(std::filesystem::exists(file("ran")));
}

TEST_F(ForrstCommand, what_it_leaves_running_is_not_waited_for_and_ends_with_it) {
  const auto outcome =
      run_script(fmt::format("sleep 1000 & echo $! > {}; echo 5", file("grandchild")));
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(*outcome, boost::json::value(5));
  EXPECT_TRUE(test::eventually([&] { return !test::is_running(pid_in("grandchild")); }));
}

TEST_F(ForrstCommand, inherits_no_descriptors_and_no_signals_of_ours) {
  start();  // has sockets and loops of its own
  // NOLINTNEXTLINE(android-cloexec-open): that is the point
  const int leaked = ::open(file("leaked").c_str(), O_RDONLY | O_CREAT, 0600);
  ASSERT_GE(leaked, 3);
  sigset_t blocked;
  sigset_t before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  sigaddset(&blocked, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  const auto old = signal(SIGUSR2, SIG_IGN);
  EXPECT_TRUE(run_script(fmt::format("ls -l /proc/$$/fd > {}", file("seen"))));
  // By no shell: it has a mask of its own while it starts something.
  const auto ask = [&](const std::string& what) {
    return run({"sed", "-n", fmt::format("s/{}:[[:blank:]]*\\(.*\\)/\"\\1\"/p", what),
                "/proc/self/status"},
               call_of());
  };
  const auto masked = ask("SigBlk");
  const auto ignored = ask("SigIgn");
  signal(SIGUSR2, old);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  close(leaked);
  std::ifstream in(file("seen"));
  const std::string seen(std::istreambuf_iterator<char>(in), {});
  // Descriptors that the shell opened by itself are none of these.
  for (const auto* ours : {"leaked", "socket:", "anon_inode:"}) {
    EXPECT_EQ(seen.find(ours), std::string::npos) << seen;
  }
  EXPECT_NE(seen.find(" 2 -> pipe:"), std::string::npos) << seen;
  ASSERT_TRUE(masked && ignored);
  EXPECT_EQ(*masked, boost::json::value("0000000000000000"));
  // 32 and 33 are the C library's own: it lets nobody set them, and whoever started us may have.
  constexpr std::uint64_t of_the_library = 0x180000000U;
  EXPECT_EQ(std::stoull(std::string(ignored->as_string()), nullptr, 16) & ~of_the_library, 0U);
}

TEST_F(ForrstCommand, our_own_signals_are_as_before_when_it_does_not_listen) {
  sigset_t before;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  ASSERT_TRUE(run({"true"}, call_of({{"long", std::string(1 << 20U, 'x')}})));
  sigset_t after;
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  EXPECT_EQ(sigismember(&before, SIGPIPE), sigismember(&after, SIGPIPE));
  sigset_t pending;
  sigpending(&pending);
  EXPECT_EQ(sigismember(&pending, SIGPIPE), 0);
}

}  // namespace
}  // namespace holdfast::server
