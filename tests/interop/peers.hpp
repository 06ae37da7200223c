// SPDX-License-Identifier: Apache-2.0
//
// The other programs, as far as Redis can tell them from the real ones: the commands they send, in
// the order and with the gaps in which they send them.
#pragma once

#include <holdfast/view.hpp>

#include "support/redis_server.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace holdfast::test {

using std::chrono::milliseconds;

// What a program does with its keys.
class Protocol {
 public:
  virtual ~Protocol() = default;
  virtual bool take(RawRedis& redis, const std::string& key, const std::string& token,
                    milliseconds ttl) const = 0;
  virtual bool release(RawRedis& redis, const std::string& key, const std::string& token) const = 0;
  // The token of the holder, as the program reads it.
  virtual std::optional<std::string> holder(RawRedis& redis, const std::string& key) const = 0;
  virtual std::string type() const { return "string"; }
  virtual std::vector<std::string> keys(const std::string& key) const { return {key}; }
};

struct Peer {
  std::string name;
  std::string options;  // of our URL
  std::string before;   // around the name in its key
  std::string after;
  std::string token;  // an extended regular expression
  std::shared_ptr<const Protocol> protocol;
  Kind kind = Kind::mutex;
  milliseconds unit{1};  // of its ttl

  friend void PrintTo(const Peer& peer, std::ostream* out) { *out << peer.name; }
};

// Every profile, and a template of one's own.
std::vector<Peer> every_peer();
// One of each sort: milliseconds, seconds, a bare name, and each other protocol.
std::vector<Peer> some_peers();
Peer peer_named(const std::string& name);

// One program that shares a lock with us.
class Stranger {
 public:
  Stranger(const Peer& peer, const RedisServer& server, const std::string& name)
      : peer_(peer), redis_(server), key_(peer.before + name + peer.after) {}

  const std::string& key() const { return key_; }
  bool take(const std::string& token, milliseconds ttl) {
    return peer_.protocol->take(redis_, key_, token, ttl);
  }
  bool release(const std::string& token) { return peer_.protocol->release(redis_, key_, token); }
  std::optional<std::string> holder() { return peer_.protocol->holder(redis_, key_); }
  // What an operator, a failing program or a renewal does, without looking.
  void remove() {
    for (const auto& each : peer_.protocol->keys(key_)) redis_.call({"DEL", each});
  }
  // Whether there was something to set it of.
  bool set_ttl(milliseconds ttl) {
    bool is_set = true;
    for (const auto& each : peer_.protocol->keys(key_)) {
      is_set &= redis_.integer({"PEXPIRE", each, std::to_string(ttl.count())}) == 1;
    }
    return is_set;
  }
  void take_away_ttl() {
    for (const auto& each : peer_.protocol->keys(key_)) redis_.call({"PERSIST", each});
  }
  milliseconds ttl() { return milliseconds(redis_.integer({"PTTL", key_})); }
  std::string type() { return redis_.text({"TYPE", key_}); }

 private:
  Peer peer_;
  RawRedis redis_;
  std::string key_;
};

}  // namespace holdfast::test
