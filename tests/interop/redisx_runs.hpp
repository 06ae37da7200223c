// SPDX-License-Identifier: Apache-2.0
//
// NestJS RedisX' idempotency, as far as Redis can tell it from the real one: the same hash, the
// same decisions by the client's own clock, and no owner.
#pragma once

#include "support/redis_server.hpp"

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::test {

class RedisxRuns {
 public:
  RedisxRuns(RawRedis& redis, std::string key) : redis_(redis), key_("idempotency:" + key) {}

  std::chrono::milliseconds lock_timeout{30'000};
  long long clock_is_wrong_by_ms = 0;
  std::optional<long long> clock_stands_at_ms{};
  bool validates = true;

  const std::string& key() const { return key_; }

  // "new", "processing" or "fingerprint_mismatch"; else status, code, response, headers and error.
  std::vector<std::string> check_and_lock(const std::string& fingerprint) {
    const auto reply = redis_.call(
        {"EVAL",
         "local function lock() "
         "  redis.call('HSET', KEYS[1], 'fingerprint', ARGV[1], 'status', 'processing', "
         "    'startedAt', ARGV[2]) "
         "  redis.call('PEXPIRE', KEYS[1], 2 * ARGV[3]) return {'new'} end "
         "if redis.call('HLEN', KEYS[1]) == 0 then return lock() end "
         "local found = redis.call('HMGET', KEYS[1], 'fingerprint', 'status', 'startedAt') "
         "if ARGV[4] == '1' and found[1] ~= ARGV[1] then return {'fingerprint_mismatch'} end "
         "if found[2] == 'processing' then "
         "  if ARGV[2] - found[3] > tonumber(ARGV[3]) then return lock() end "
         "  return {'processing'} end "
         "local all = redis.call('HMGET', KEYS[1], 'status', 'statusCode', 'response', 'headers', "
         "  'error') "
         "for i = 1, 5 do all[i] = all[i] or '' end return all",
         "1", key_, fingerprint, std::to_string(now_ms()), std::to_string(lock_timeout.count()),
         validates ? "1" : "0"});
    std::vector<std::string> words;
    if (reply->type != REDIS_REPLY_ARRAY) return {std::string(net::resp::text_of(*reply))};
    for (std::size_t i = 0; i < reply->elements; ++i) {
      words.emplace_back(net::resp::text_of(*reply->element[i]));
    }
    return words;
  }

  void complete(const std::string& fingerprint, const std::string& code,
                const std::string& response, const std::string& headers) {
    write({"fingerprint", fingerprint, "status", "completed", "statusCode", code, "response",
           response, "headers", headers, "completedAt", std::to_string(now_ms())},
          86'400'000);
  }
  void fail(const std::string& fingerprint, const std::string& error) {
    write({"fingerprint", fingerprint, "status", "failed", "error", error, "completedAt",
           std::to_string(now_ms())},
          (lock_timeout.count() + 999) / 1000 * 1000);
  }

  // So much time passes for what was written so far, by everybody's clock.
  void let_pass(std::chrono::milliseconds time) {
    const auto started = redis_.text({"HGET", key_, "startedAt"});
    redis_.call({"HSET", key_, "startedAt", std::to_string(std::stoll(started) - time.count())});
    const auto left = redis_.integer({"PTTL", key_});
    if (left > 0) redis_.call({"PEXPIRE", key_, std::to_string(left - time.count())});
  }

  std::map<std::string, std::string> fields() {
    const auto reply = redis_.call({"HGETALL", key_});
    std::map<std::string, std::string> all;
    for (std::size_t i = 0; i + 1 < reply->elements; i += 2) {
      all.emplace(net::resp::text_of(*reply->element[i]),
                  net::resp::text_of(*reply->element[i + 1]));
    }
    return all;
  }
  std::chrono::milliseconds ttl() {
    return std::chrono::milliseconds(redis_.integer({"PTTL", key_}));
  }

  long long now_ms() const {
    if (clock_stands_at_ms) return *clock_stands_at_ms;
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::floor<std::chrono::milliseconds>(now).count() + clock_is_wrong_by_ms;
  }

 private:
  void write(std::vector<std::string> fields, long long ttl_ms) {
    std::vector<std::string> words{"EVAL",
                                   "local ttl = table.remove(ARGV) "
                                   "redis.call('HSET', KEYS[1], unpack(ARGV)) "
                                   "return redis.call('PEXPIRE', KEYS[1], ttl)",
                                   "1", key_};
    words.insert(words.end(), fields.begin(), fields.end());
    words.push_back(std::to_string(ttl_ms));
    redis_.call(words);
  }

  RawRedis& redis_;
  const std::string key_;
};

}  // namespace holdfast::test
