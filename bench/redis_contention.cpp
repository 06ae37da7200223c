// SPDX-License-Identifier: Apache-2.0
//
// Ten and a hundred workers want one lock for a millisecond each, in one process and in four. The
// floor is a token in a list that goes around by BLPOP and LPUSH: a queue that the server keeps,
// with neither lease nor fence. Counted are hand-overs, that is acquisitions by another worker than
// the last holder.
#include <holdfast/holdfast.hpp>

#include "support/bars.hpp"
#include "support/contention.hpp"
#include "support/redis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace holdfast::bench {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t repeats = 5;
constexpr std::array crowds{Crowd{.workers = 10, .processes = 1, .turns = 150},
                            Crowd{.workers = 100, .processes = 1, .turns = 30},
                            Crowd{.workers = 10, .processes = 4, .turns = 150},
                            Crowd{.workers = 100, .processes = 4, .turns = 30}};

class TokenLock {
 public:
  explicit TokenLock(std::uint16_t port)
      : redis_(std::make_unique<RawRedis>(port, 30s)),
        take_(resp({"BLPOP", "token", "20"})),
        put_(resp({"LPUSH", "token", "1"})) {}

  void acquire() {
    redis_->send(take_);
    if (redis_->receive()->type != REDIS_REPLY_ARRAY) give_up("the token is gone");
  }
  void release() {
    redis_->send(put_);
    if (redis_->receive()->type != REDIS_REPLY_INTEGER) give_up("the token was not taken back");
  }

 private:
  std::unique_ptr<RawRedis> redis_;
  std::string take_;
  std::string put_;
};

class OurLock {
 public:
  explicit OurLock(const Client& client) : mutex_(client.mutex("contention")) {}

  void acquire() {
    auto lease = mutex_.acquire({.ttl = 30s, .wait = 20s});
    if (!lease) give_up(lease.error().message);
    lease_ = std::move(*lease);
  }
  void release() {
    const auto released = lease_->release();
    if (!released) give_up(released.error().message);
    if (*released != Released::released) give_up("a lease ended while it was held");
    lease_.reset();
  }

 private:
  Mutex mutex_;
  std::optional<Lease> lease_;
};

CrowdResult run_tokens(const Crowd& crowd, const RedisServer& server, RawRedis& redis) {
  redis.text({"DEL", "token"});
  redis.text({"LPUSH", "token", "1"});
  return run_crowd(crowd, [] { return 0; }, [&](int) { return TokenLock(server.port()); });
}

CrowdResult run_ours(const Crowd& crowd, const RedisServer& server) {
  const auto open_client = [&] {
    auto client = open(server.url());
    if (!client) give_up(client.error().message);
    return *client;
  };
  return run_crowd(crowd, open_client, [](const Client& client) { return OurLock(client); });
}

struct Series {
  std::vector<double> per_s;
  std::vector<double> fairness;
  std::vector<double> wait_p50;
  std::vector<double> wait_p99;
  std::vector<double> handover;
  std::vector<double> longest;
  std::vector<double> commands;

  void add(const CrowdResult& result, double commands_sent) {
    per_s.push_back(result.hand_overs_per_s);
    fairness.push_back(result.fairness);
    wait_p50.push_back(percentile(result.waits_us, 0.5) / 1000);
    wait_p99.push_back(percentile(result.waits_us, 0.99) / 1000);
    handover.push_back(median(result.handovers_us));
    longest.push_back(result.longest_handover_us / 1000);
    commands.push_back(commands_sent / result.all_acquisitions);
  }
};

struct Pairing {
  Series tokens;
  Series ours;
};

// What BLPOP and LPUSH cost is known; the scripts use neither, so that all is counted here as well.
void run_once(const Crowd& crowd, const RedisServer& server, RawRedis& redis, Pairing& out) {
  redis.text({"CONFIG", "RESETSTAT"});
  const CrowdResult tokens = run_tokens(crowd, server, redis);
  out.tokens.add(tokens, client_commands(redis));
  redis.text({"CONFIG", "RESETSTAT"});
  const CrowdResult ours = run_ours(crowd, server);
  out.ours.add(ours, client_commands(redis));
}

// Of a release that finds nothing: the least that a script of ours does.
double round_trip_us(RawRedis& redis, const PairBytes& pair, std::chrono::microseconds pause) {
  constexpr std::size_t count = 500;
  std::vector<double> samples;
  for (std::size_t i = 0; i < count; ++i) {
    if (pause > 0us) std::this_thread::sleep_for(pause);
    const std::int64_t began = monotonic_ns();
    redis.send(pair.release);
    const auto reply = redis.receive();
    samples.push_back(static_cast<double>(monotonic_ns() - began) / 1000);
    if (reply->type != REDIS_REPLY_INTEGER) give_up("a script failed");
  }
  return median(samples);
}

struct RoundTrips {
  std::vector<double> busy;    // one after the other
  std::vector<double> rested;  // a millisecond apart, as hand-overs are
};

void print_crowd(const Crowd& crowd, const Pairing& pairing) {
  const std::string where = fmt::format("{} workers, {} {}", crowd.workers, crowd.processes,
                                        crowd.processes == 1 ? "process" : "processes");
  const auto row = [&](const char* what, const Series& series) {
    print_row(fmt::format("{}: {}", where, what), series.per_s, "per s",
              fmt::format("min/max {:.3f}, wait p50 {} p99 {} ms, hand-over p50 {} us, longest {} "
                          "ms, {:.2f} commands each",
                          median(series.fairness), readable(median(series.wait_p50)),
                          readable(median(series.wait_p99)), readable(median(series.handover)),
                          readable(percentile(series.longest, 1)), median(series.commands)));
  };
  row("BLPOP token", pairing.tokens);
  row("redis:", pairing.ours);
}

void report(const std::vector<Pairing>& pairings, const RoundTrips& trips) {
  double per_s = 1e9;
  double fairness = 1e9;
  double commands = 0;
  double wait = 0;
  for (std::size_t i = 0; i < crowds.size(); ++i) {
    const auto& [tokens, ours] = pairings[i];
    print_crowd(crowds[i], pairings[i]);
    per_s = std::min(per_s, median(ours.per_s) / median(tokens.per_s));
    fairness = std::min(fairness, median(ours.fairness));
    commands = std::max(commands, median(ours.commands));
    wait = std::max(wait, median(ours.wait_p99) / median(tokens.wait_p99));
  }
  print_row("hiredis: EVALSHA, one after the other, p50", trips.busy, "us");
  print_row("hiredis: EVALSHA, a millisecond apart, p50", trips.rested, "us");
  const double of_10 = median(pairings[0].ours.handover);
  const double of_100 = median(pairings[1].ours.handover);
  print_note(fmt::format("a hand-over takes {:.2f} round trips of those a millisecond apart",
                         std::max(of_10, of_100) / median(trips.rested)));
  bar_at_least("redis.contention_handovers_vs_blpop", per_s, 0.9);
  bar_at_least("redis.contention_fairness", fairness, 0.9);
  bar_at_most("redis.contention_commands", commands, 4);
  bar_at_most("redis.contention_wait_p99_vs_blpop", wait, 1.3);
  bar_at_most("redis.handover_p50_vs_rtt", std::max(of_10, of_100) / median(trips.busy), 3);
  bar_at_most("redis.handover_100_vs_10", of_100 / of_10, 1.3);
}

}  // namespace

}  // namespace holdfast::bench

int main() {
  using namespace holdfast::bench;
  using namespace std::chrono_literals;
  const PinnedRedis server;
  RawRedis redis(*server);
  const auto pair = holdfast_pairs(redis, 1).front();
  std::vector<Pairing> pairings(crowds.size());
  RoundTrips trips;
  for (std::size_t repeat = 0; repeat < repeats; ++repeat) {
    for (std::size_t i = 0; i < crowds.size(); ++i) {
      run_once(crowds[i], *server, redis, pairings[i]);
    }
    trips.busy.push_back(round_trip_us(redis, pair, 0us));
    trips.rested.push_back(round_trip_us(redis, pair, 1ms));
  }
  report(pairings, trips);
}
