// SPDX-License-Identifier: Apache-2.0
//
// Laravel's Cache::lock and the lock functions of PHP's Forrst server, command by command, with the
// flaws of the original.
#pragma once

#include "support/redis_server.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::test {

// PHP's serialize() of a text, and back. Throws std::runtime_error at what PHP could not read.
std::string php_serialized(std::string_view text);
std::string php_unserialized(std::string_view value);
// As Carbon writes and reads times: 2024-03-15T10:00:00+00:00. Throws at what is no such text.
std::string carbon(std::chrono::sys_seconds time);
std::chrono::sys_seconds carbon_time(std::string_view text);

// Cache::lock($name, $seconds, $owner), and restoreLock($name, $owner), which is the same object.
class CacheLock {
 public:
  CacheLock(RawRedis& redis, std::string key, std::string owner)
      : redis_(redis), key_(std::move(key)), owner_(std::move(owner)) {}

  bool get(std::chrono::seconds ttl);
  // Asks every 250 ms and gives up when the next time would be too late.
  bool block(std::chrono::seconds ttl, std::chrono::milliseconds patience);
  bool release();
  void force_release();
  bool refresh(std::chrono::seconds ttl);

 private:
  RawRedis& redis_;
  std::string key_;
  std::string owner_;
};

// The server's atomic-lock extension, for one lock.
class ForrstServer {
 public:
  struct Status {
    bool locked = false;
    std::string owner;
    std::string acquired_at;
    std::string expires_at;
    std::chrono::seconds ttl_remaining{};
  };

  ForrstServer(RawRedis& redis, std::string key) : redis_(redis), key_(std::move(key)) {}

  // Around a function call. Whoever does not get the lock clears its texts away all the same.
  bool acquire(const std::string& owner, std::chrono::seconds ttl);
  bool auto_release(const std::string& owner);

  // The three functions. They answer with their error code, or with "released" and "not released".
  Status status();
  std::string release(const std::string& owner);
  std::string force_release();

  std::string text_key(std::string_view field) const {
    return key_ + ":meta:" + std::string(field);
  }
  std::vector<std::string> text_keys() const;
  // As they are in Redis; empty where there is none.
  std::vector<std::string> texts();
  void clear_texts();

 private:
  void put(std::string_view field, const std::string& text, std::chrono::seconds ttl);
  std::optional<std::string> get(std::string_view field);

  RawRedis& redis_;
  std::string key_;
};

}  // namespace holdfast::test
