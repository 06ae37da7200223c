// SPDX-License-Identifier: Apache-2.0
//
// Runs as they are defined (src/model) and as they are kept inside Redis, driven alike and compared
// after each command. Both get the same clock, which the test moves, and not only forward.
#include "backends/redis/idempotency.hpp"

#include "support/model_world.hpp"
#include "support/random_text.hpp"
#include "support/redis_server.hpp"
#include "support/runs.hpp"
#include "virtual_time.hpp"

#include <array>
#include <map>

namespace holdfast::test {
namespace {

using backends::redis::Script;
using backends::redis::Scripts;
using model::RunCommand;
using model::RunOutcome;
using model::RunState;
using model::StoreTime;
using Verb = RunCommand::Verb;

constexpr long long clock_and_counter = 2;

class RunTwin : public testing::Test {
 protected:
  RunTwin() {
    clock_ = redis_.text({"SCRIPT", "LOAD", std::string(move_clock_script)});
    const auto& source = scripts_[Script::run];
    EXPECT_EQ(redis_.text({"SCRIPT", "LOAD", source.text}), source.sha1);
    move_clock(now_);
  }

  // How many keys are left.
  long long move_clock(StoreTime to) {
    now_ = to;
    furthest_ = std::max(furthest_, now_);
    return redis_.integer(
        {"EVALSHA", clock_, "0", std::to_string(now_.time_since_epoch().count())});
  }

  static std::string key_of(const LockName& name) { return "idempotency:" + name.str(); }

  RunOutcome ask(const LockName& name, const RunCommand& command) {
    redis_.send(encode_run(scripts_, name, command, {.by_text = random_.one_in(50)}));
    const auto reply = redis_.receive();
    if (net::resp::is_error(*reply)) {
      ADD_FAILURE() << net::resp::text_of(*reply);
      return {};
    }
    const auto decoded = backends::redis::decode_run(*reply);
    EXPECT_TRUE(decoded) << decoded.error().message;
    return decoded ? std::get<RunOutcome>(decoded->outcome) : RunOutcome{};
  }

  RunOutcome expected(RunState& state, const RunCommand& command) {
    const auto admitted = model::admissible(command);
    EXPECT_TRUE(admitted.has_value()) << admitted.error().message;
    HandWorld world(now_, static_cast<std::uint64_t>(now_.time_since_epoch().count()), fences_,
                    nobody_);
    return step(state, command, world);
  }

  // Redis forgets a key when its time has come, even if the clock is set back before anybody asks.
  // It must never forget one before.
  void forget_with(const LockName& name, RunState& state) {
    if (state.status == RunState::Status::none) return;
    if (redis_.integer({"EXISTS", key_of(name)}) == 1) return;
    EXPECT_LE(state.expires, furthest_) << name.str() << " was forgotten too early";
    state = {};
  }

  // The key of a record that is over stays for a millisecond. The model has forgotten it at once,
  // which only a clock that is set back can tell apart.
  void drop(const LockName& name) {
    redis_.call({"DEL", key_of(name)});
    redis_.call({"HDEL", "twin:expiry", key_of(name)});
  }

  template <typename T, std::size_t size>
  T one_of(const T (&all)[size]) {
    return all[random_.below(size)];
  }
  Micros below(Micros end) {
    return Micros(random_.below(static_cast<std::size_t>(std::max<std::int64_t>(1, end.count()))));
  }

  Micros some_time() {
    constexpr Micros guards[] = {min_guard, 101ms, 1s, 10s, 30s};
    switch (random_.below(10)) {
      case 0: return below(3us);
      case 1: return below(2ms);
      case 2: return one_of(guards) - 1us;
      case 3: return one_of(guards);
      case 4: return below(one_of(guards));
      case 5: return below(2 * one_of(guards));
      case 6: return random_.one_in(20) ? below(max_answer_ttl) : 0us;
      case 7: return random_.one_in(4) ? -below(one_of(guards)) : 0us;
      default: return 0us;
    }
  }

  // A time just before, at and after something that the record says.
  StoreTime some_edge(const RunState& state) {
    const auto edge = random_.one_in(3) ? state.expires : state.guarded_until;
    const auto at = edge + Micros(static_cast<int>(random_.below(3)) - 1);
    return at > now_ && at < now_ + 40 * 24h ? at : now_ + some_time();
  }

  Answer some_answer() {
    return {.status = static_cast<std::uint16_t>(100 + random_.below(500)),
            .headers = random_.text_of("{}\":ab ", 20),
            .body = random_.one_in(10) ? random_.bytes(5000) : random_.bytes(20)};
  }

  RunCommand some_command() {
    static const std::string owners[] = {"ann", "ben", "a b  c", "1 2 3 4 5 6 7 8 9", "Zo\xc3\xab"};
    static const std::string fingerprints[] = {"", "", "", "f", "f", "f", "f", "g"};
    constexpr Micros guards[] = {min_guard, 101ms, 1s, 10s, 30s, 30s, max_guard};
    constexpr Micros keeps[] = {min_answer_ttl, 1001ms, 10s, 60s, 24h, max_answer_ttl};
    constexpr Verb verbs[] = {Verb::begin, Verb::begin,    Verb::begin,   Verb::begin,
                              Verb::renew, Verb::renew,    Verb::abandon, Verb::look,
                              Verb::fail,  Verb::complete, Verb::look,    Verb::begin};
    RunCommand command{.verb = random_.one_in(40) ? Verb::forget : one_of(verbs),
                       .owner = one_of(owners),
                       .fingerprint = one_of(fingerprints),
                       .guard = one_of(guards),
                       .keep = one_of(keeps),
                       .takes_over = !random_.one_in(4)};
    if (command.verb == Verb::complete) command.answer = some_answer();
    if (command.verb == Verb::fail) {
      if (random_.one_in(4)) command.keep = 0us;
      command.failure = random_.text_of("why not?", 30);
    }
    return command;
  }

  void count(const RunCommand& command, const RunOutcome& outcome) {
    ++seen_[{command.verb, outcome.done, outcome.found}];
  }
  int times(Verb verb, bool done, RunFound found) const {
    const auto entry = seen_.find({verb, done, found});
    return entry == seen_.end() ? 0 : entry->second;
  }

  RedisServer server_;
  RawRedis redis_{server_};
  Random random_;
  Scripts scripts_{{.prelude = virtual_time_prelude}};
  std::string clock_;
  StoreTime now_{1'700'000'000s};
  StoreTime furthest_ = now_;
  model::FenceCounter fences_;
  std::set<std::uint64_t> nobody_;
  std::map<std::tuple<Verb, bool, RunFound>, int> seen_;
};

TEST_F(RunTwin, a_run_does_what_the_model_says) {
  std::array<std::pair<LockName, RunState>, 3> all{{{LockName::make("order:1").value(), {}},
                                                    {LockName::make("a b {*?[").value(), {}},
                                                    {LockName::make("idempotency:").value(), {}}}};
  for (int round = 0; round < 12'000; ++round) {
    auto& [name, state] = all[random_.below(all.size())];
    const auto to = random_.one_in(6) ? some_edge(state) : now_ + some_time();
    if (to != now_) move_clock(to);
    for (auto& [each, record] : all) forget_with(each, record);
    const auto command = some_command();
    const auto before = state;
    const auto outcome = expected(state, command);
    ASSERT_EQ(ask(name, command), outcome)
        << name.str() << " round " << round << " verb " << static_cast<int>(command.verb) << " by "
        << command.owner << " fingerprint '" << command.fingerprint << "' guard "
        << command.guard.count() << " keep " << command.keep.count() << " at "
        << now_.time_since_epoch().count() << "; before: status " << static_cast<int>(before.status)
        << " of " << before.owner << " guarded until "
        << before.guarded_until.time_since_epoch().count() << " expires "
        << before.expires.time_since_epoch().count();
    count(command, outcome);
    const bool was_over = before.status != RunState::Status::none && before.expires <= now_;
    if (was_over && state.status == RunState::Status::none) drop(name);
    if (random_.one_in(3)) {
      RunState copy = state;
      ASSERT_EQ(ask(name, look_at_run()), expected(copy, look_at_run())) << "round " << round;
    }
  }
  // A walk that never comes by one of these says nothing.
  for (const auto found : {RunFound::nothing, RunFound::abandoned}) {
    EXPECT_GT(times(Verb::begin, true, found), 20);
    EXPECT_GT(times(Verb::renew, false, found), 5);
  }
  for (const auto found : {RunFound::abandoned, RunFound::in_progress, RunFound::completed,
                           RunFound::failed, RunFound::mismatch}) {
    EXPECT_GT(times(Verb::begin, false, found), 20) << to_string(found);
  }
  for (const auto verb : {Verb::renew, Verb::complete, Verb::fail, Verb::abandon}) {
    EXPECT_GT(times(verb, true, RunFound::in_progress), 20);
    EXPECT_GT(times(verb, false, RunFound::in_progress), 5);
    EXPECT_GT(times(verb, false, RunFound::abandoned), 5);
  }
  EXPECT_GT(times(Verb::complete, true, RunFound::nothing), 5);
  EXPECT_GT(times(Verb::complete, true, RunFound::completed), 5);
}

TEST_F(RunTwin, nothing_is_left_behind) {
  for (int i = 0; i < 10; ++i) {
    const auto name = LockName::make("order:" + std::to_string(i)).value();
    ask(name, begin_as("ann"));
    if (i > 2) ask(name, complete_as("ann"));
    if (i > 5) ask(name, begin_as("ben"));
  }
  EXPECT_EQ(move_clock(now_), clock_and_counter + 1 + 10) << "with the table of ttls";
  EXPECT_EQ(move_clock(now_ + run_guard + run_ttl + 2ms), clock_and_counter);
}

// A full server must not keep a run that is under way from ending.
TEST_F(RunTwin, a_full_server_begins_nothing_and_lets_runs_end) {
  const auto name = LockName::make("order").value();
  const auto ask_plainly = [&](const LockName& about, const RunCommand& command) {
    const Scripts scripts({});
    redis_.send(encode_run(scripts, about, command, {.by_text = true}));
    return redis_.receive();
  };
  EXPECT_FALSE(net::resp::is_error(*ask_plainly(name, begin_as("ann"))));
  redis_.call({"CONFIG", "SET", "maxmemory", "1"});
  const auto refused = ask_plainly(LockName::make("other").value(), begin_as("ben"));
  // Redis 6.2 says first where in the script it was.
  const std::string_view refusal = net::resp::text_of(*refused);
  EXPECT_TRUE(refusal.starts_with("OOM") || refusal.contains(" -OOM ")) << refusal;
  EXPECT_EQ(redis_.integer({"EXISTS", "idempotency:other"}), 0);
  for (const auto& command : {renew_as("ann"), abandon_as("ann"), complete_as("ann"),
                              complete_as("ann"), look_at_run(), forget_run()}) {
    const auto reply = ask_plainly(name, command);
    EXPECT_FALSE(net::resp::is_error(*reply)) << net::resp::text_of(*reply);
  }
  EXPECT_EQ(redis_.integer({"EXISTS", "idempotency:order"}), 0);
}

TEST(RunReply, what_makes_no_sense_is_not_taken_for_an_outcome) {
  const auto decoded = [](std::string_view resp) {
    redisReader* reader = redisReaderCreate();
    redisReaderFeed(reader, resp.data(), resp.size());
    void* reply = nullptr;
    redisReaderGetReply(reader, &reply);
    auto result = backends::redis::decode_run(*static_cast<redisReply*>(reply));
    freeReplyObject(reply);
    redisReaderFree(reader);
    return result;
  };
  EXPECT_TRUE(decoded("*4\r\n:1\r\n:1\r\n:7\r\n:9\r\n"));
  EXPECT_TRUE(decoded("*5\r\n:0\r\n:5\r\n:7\r\n:9\r\n$1\r\nx\r\n"));
  for (const std::string_view resp :
       {":1\r\n", "*3\r\n:1\r\n:1\r\n:7\r\n", "*4\r\n:2\r\n:1\r\n:7\r\n:9\r\n",
        "*4\r\n:1\r\n:0\r\n:7\r\n:9\r\n", "*4\r\n:1\r\n:7\r\n:7\r\n:9\r\n",
        "*4\r\n:1\r\n:1\r\n:-7\r\n:9\r\n", "*4\r\n:1\r\n:1\r\n:7\r\n$1\r\n9\r\n",
        "*5\r\n:0\r\n:4\r\n:7\r\n:9\r\n$1\r\nx\r\n", "*5\r\n:0\r\n:5\r\n:7\r\n:9\r\n:1\r\n",
        "*7\r\n:0\r\n:4\r\n:7\r\n:9\r\n:200\r\n$0\r\n\r\n:1\r\n"}) {
    const auto result = decoded(resp);
    ASSERT_FALSE(result) << resp;
    EXPECT_EQ(result.error().code, Errc::outcome_unknown);
  }
  const auto theirs = decoded(
                          "*5\r\n:0\r\n:5\r\n:0\r\n:9\r\n$3\r\na\xff"
                          "b\r\n")
                          .value();
  EXPECT_EQ(std::get<model::RunOutcome>(theirs.outcome).failure, "a?b");
}

}  // namespace
}  // namespace holdfast::test
