// SPDX-License-Identifier: Apache-2.0
//
// One fault after the other, chosen by dice, on a line or at a server.
#pragma once

#include "faults_redis/load.hpp"
#include "support/fault_proxy.hpp"
#include "support/redis_server.hpp"

namespace holdfast::faults {

// What may happen on the line between clients and server.
enum class LineFault : std::uint8_t {
  cut,               // every connection is reset
  end_mid_reply,     // after some more bytes of replies
  halve_reply,       // half a reply, then nothing
  byte_by_byte,      // replies in pieces of one byte
  swallow_replies,   // no answer, though the command was executed
  swallow_requests,  // no answer, and it was not
  delay_requests,    // 50 to 600 ms
  delay_replies,     // 50 to 600 ms
  stand_still,       // nothing moves, in no direction
  refuse,            // no new connections
};
inline constexpr std::int64_t line_faults = 10;

// Strikes once, lasts for a while, and is over when it returns. The log knows.
void strike(test::FaultProxy& proxy, LineFault fault, SharedLog& log, Dice& dice);

// What may happen at the server without its process being touched.
enum class ServerFault : std::uint8_t {
  script_flush,
  kill_normal,  // CLIENT KILL of the connections for commands
  kill_pubsub,  // of those for messages
  pause,        // CLIENT PAUSE: everybody waits
  pause_writes,
  flush_all,  // an operator deletes everything, the counter too
  save,       // a snapshot, to which the next restart returns
};
inline constexpr std::int64_t server_faults = 7;

// `clock_is_ahead`: the server's wall clock of ours.
void strike(test::RawRedis& raw, ServerFault fault, SharedLog& log, Dice& dice,
            Micros clock_is_ahead = {});

// The server's process ends and comes back empty, or with its last snapshot; or it stands still,
// each for a time by the dice.
void kill_and_restart(test::RedisServer& server, Micros most, SharedLog& log, Dice& dice);
void stop_for(test::RedisServer& server, Micros least, Micros most, SharedLog& log, Dice& dice);

}  // namespace holdfast::faults
