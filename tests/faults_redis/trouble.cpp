// SPDX-License-Identifier: Apache-2.0
#include "faults_redis/trouble.hpp"

#include <stdexcept>
#include <string>

namespace holdfast::faults {

namespace {

using namespace std::chrono_literals;
using test::FaultProxy;

// A fault at the store from when this was made until it goes away.
class Noted {
 public:
  explicit Noted(SharedLog& log) : log_(log), begin_(log.now()) {}
  Noted(const Noted&) = delete;
  Noted& operator=(const Noted&) = delete;
  ~Noted() { log_.fault(What::unreachable, 0, begin_, log_.now()); }

 private:
  SharedLog& log_;
  const Time begin_;
};

FaultProxy::Delay some_delay(Dice& dice) {
  return std::chrono::duration_cast<FaultProxy::Delay>(dice.time(50ms, 600ms));
}

// When it happened, by the server's clock: whoever is granted something a moment later is told so
// before we are.
Time flush_all(test::RawRedis& raw, const SharedLog& log, Micros clock_is_ahead) {
  raw.text({"MULTI"});
  raw.text({"TIME"});
  raw.text({"FLUSHALL"});
  const auto replies = raw.call({"EXEC"});
  if (replies->elements != 2) throw std::runtime_error("the server was not emptied");
  const redisReply& time = *replies->element[0];
  const auto at = std::chrono::seconds(std::stoll(time.element[0]->str)) +
                  Micros(std::stoll(time.element[1]->str)) - clock_is_ahead;
  const auto ago = std::chrono::system_clock::now().time_since_epoch() - at;
  return log.now() - std::chrono::nanoseconds(ago).count();
}

}  // namespace

void strike(FaultProxy& proxy, LineFault fault, SharedLog& log, Dice& dice) {
  const Noted noted(log);
  const auto how = dice.one_in(2) ? FaultProxy::Ending::close : FaultProxy::Ending::reset;
  switch (fault) {
    case LineFault::cut: proxy.cut(); return;
    case LineFault::end_mid_reply:
      proxy.end_after(static_cast<std::size_t>(dice.between(0, 400)), how);
      break;
    case LineFault::halve_reply: proxy.halve_next_reply(how); break;
    case LineFault::byte_by_byte: proxy.byte_by_byte(true); break;
    case LineFault::swallow_replies: proxy.swallow_replies(true); break;
    case LineFault::swallow_requests: proxy.swallow_requests(true); break;
    case LineFault::delay_requests: proxy.delay_requests(some_delay(dice)); break;
    case LineFault::delay_replies: proxy.delay_replies(some_delay(dice)); break;
    case LineFault::stand_still: proxy.pause(); break;
    case LineFault::refuse:
      proxy.refuse(true);
      proxy.cut();
      break;
  }
  const bool is_long = dice.one_in(4);
  dice.rest(is_long ? 100ms : 5ms, is_long ? 900ms : 100ms);
  proxy.all_well();
}

void strike(test::RawRedis& raw, ServerFault fault, SharedLog& log, Dice& dice,
            Micros clock_is_ahead) {
  const Noted noted(log);
  const auto pause = [&](const char* what) {
    const Micros time = dice.time(10ms, 400ms);
    raw.text({"CLIENT", "PAUSE", std::to_string(time / 1ms), what});
    // A write is answered when it is over.
    raw.text({"DEL", "no such key"});
  };
  switch (fault) {
    case ServerFault::script_flush: raw.text({"SCRIPT", "FLUSH"}); break;
    case ServerFault::kill_normal: raw.text({"CLIENT", "KILL", "TYPE", "normal"}); break;
    case ServerFault::kill_pubsub: raw.text({"CLIENT", "KILL", "TYPE", "pubsub"}); break;
    case ServerFault::pause: pause("ALL"); break;
    case ServerFault::pause_writes: pause("WRITE"); break;
    case ServerFault::flush_all:
      log.add({.at = flush_all(raw, log, clock_is_ahead), .what = What::data_lost});
      break;
    case ServerFault::save: raw.text({"SAVE"}); break;
  }
}

// What was granted before the server ended is forgotten; nothing is granted while it is away.
void kill_and_restart(test::RedisServer& server, Micros most, SharedLog& log, Dice& dice) {
  const Noted noted(log);
  server.kill();
  log.add({.what = What::data_lost});
  dice.rest(0us, most);
  server.restart();
}

void stop_for(test::RedisServer& server, Micros least, Micros most, SharedLog& log, Dice& dice) {
  const Time begin = log.now();
  server.stop();
  dice.rest(least, most);
  server.cont();
  log.fault(What::stopped, 0, begin, log.now());
}

}  // namespace holdfast::faults
