// SPDX-License-Identifier: Apache-2.0
//
// Commands and outcomes of the step as Redis sees them: what goes into a script and what comes out.
// No socket here, so that the twin test can drive the same bytes.
#pragma once

#include "backends/redis/dialect.hpp"
#include "backends/redis/scripts.hpp"
#include "net/resp/reply.hpp"
#include "store/store.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace holdfast::backends::redis {

// Scripts count in milliseconds; a part of one counts as a whole.
inline std::uint64_t to_ms(Micros time) {
  return static_cast<std::uint64_t>(std::chrono::ceil<std::chrono::milliseconds>(time).count());
}

struct Sending {
  bool by_text = false;  // EVAL instead of EVALSHA, after NOSCRIPT
  // Compare every fence with the server's clock: the counter was not raised on this connection.
  bool compare_clock = false;
  // Also where nothing needs to change: replicas confirm only what this connection wrote.
  bool must_write = false;
};

// One command in RESP.
std::string encode(const Scripts& scripts, const Dialect& dialect, const LockName& name,
                   const model::LockCommand& command, Sending sending);
inline std::string encode(const Scripts& scripts, const LockName& name,
                          const model::LockCommand& command, Sending sending) {
  return encode(scripts, Dialect(), name, command, sending);
}

// What a script answered. Errors: outcome_unknown, if it is not an answer of ours.
Result<store::Reply> decode(const model::LockCommand& command, const redisReply& reply);
// Whether a waiter was told that a program without messages of ours is in its way.
bool is_behind_a_stranger(const redisReply& reply);

// The whole state, from the reply to an Inspect, and the server's time in it. What has ended by
// then is still in it. Tokens included: for stores and tests only.
struct Snapshot {
  model::StoreTime at{};
  model::LockState state;
};
Result<Snapshot> decode_snapshot(const redisReply& reply);

// A message of a hand-over.
struct Delivery {
  LockName name;
  model::Message message;
};
std::optional<Delivery> decode_message(std::string_view payload, const Dialect& dialect = {});

// "hf:000000000000002a"
std::string channel_of(model::ProcessId process);

}  // namespace holdfast::backends::redis
