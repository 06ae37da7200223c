// SPDX-License-Identifier: Apache-2.0
//
// What the benchmarks of `redis:` share: a server of their own on a core of its own, and what it
// tells of itself.
#pragma once

#include "backends/redis/scripts.hpp"
#include "support/direct.hpp"
#include "support/redis_server.hpp"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::bench {

using test::RawRedis;
using test::RedisServer;

// A server pinned to the last core this process may use. The calling thread, and every thread and
// process that it starts from now on, is pinned to the first. Says so if there is only one core.
class PinnedRedis {
 public:
  PinnedRedis();
  const RedisServer& operator*() const { return server_; }
  const RedisServer* operator->() const { return &server_; }

 private:
  const std::vector<int> cores_;
  RedisServer server_;
};

// Processor time of all threads of a process, in seconds.
double cpu_seconds_of(pid_t process);

// What a process and its server used of one core each, while somebody else did the work.
class CpuShares {
 public:
  CpuShares(pid_t client, pid_t server);
  struct Shares {
    double client = 0;
    double server = 0;
    double seconds = 0;
  };
  // Since it was made.
  Shares so_far() const;

 private:
  const pid_t client_;
  const pid_t server_;
  const double client_before_;
  const double server_before_;
  const std::int64_t began_ns_;
};

// A number of INFO: `used_memory`. Ends the program if there is none.
double info_number(RawRedis& redis, const std::string& section, std::string_view field);

struct CommandStats {
  double calls = 0;
  double usec = 0;
};
// Since CONFIG RESETSTAT, by the name of the command in lower case.
std::map<std::string, CommandStats> command_stats(RawRedis& redis);
// How many commands clients sent since then: all but those that the scripts use.
double client_commands(RawRedis& redis);

// One command in RESP.
std::string resp(const std::vector<std::string>& words);

// The commands of a pair as the backend sends them, ready to be sent as often as one likes.
struct PairBytes {
  std::string acquire;
  std::string release;
  long long released;  // what the release answers if the lock was held
};
// Of Holdfast's scripts: one pair for each name, with owners and metadata as clients have them.
// The scripts are loaded, and the fence has been compared with the clock.
std::vector<PairBytes> holdfast_pairs(RawRedis& redis, std::size_t names);
// The least that can be called a fenced lock: SET NX PX and INCR of a token for each lock; GET,
// compare, DEL.
std::vector<PairBytes> minimal_pairs(RawRedis& redis, std::size_t names);
// What one writes without a library: SET NX PX by itself, and compare-and-delete as a script.
std::vector<PairBytes> bare_pairs(RawRedis& redis, std::size_t names);

// Each ends the program if the server says anything else.
void expect_acquired(const net::resp::Reply& reply);
void expect_released(const PairBytes& pair, const net::resp::Reply& reply);

// What the command prints. Ends the program if it fails.
std::string output_of(const std::vector<std::string>& words);

}  // namespace holdfast::bench
