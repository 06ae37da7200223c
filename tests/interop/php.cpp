// SPDX-License-Identifier: Apache-2.0
#include "php.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <thread>

namespace holdfast::test {

namespace {

using std::chrono::seconds;

std::string number_of(seconds ttl) { return std::to_string(ttl.count()); }

bool is_numeric(const std::string& text) {
  constexpr auto spaces = " \t\n\r\v\f";
  if (text.find_first_not_of("0123456789+-.eE \t\n\r\v\f") != std::string::npos) return false;
  char* end = nullptr;
  std::strtod(text.c_str(), &end);
  return end != text.c_str() && end[std::strspn(end, spaces)] == '\0';
}

std::chrono::sys_seconds clock_of_the_program() {
  return std::chrono::floor<seconds>(std::chrono::system_clock::now());
}

}  // namespace

std::string php_serialized(std::string_view text) {
  return fmt::format("s:{}:\"{}\";", text.size(), text);
}

std::string php_unserialized(std::string_view value) {
  const auto quote = value.find('"');
  const auto text = quote == std::string_view::npos || value.size() < quote + 3
                        ? std::string_view()
                        : value.substr(quote + 1, value.size() - quote - 3);
  if (php_serialized(text) != value) {
    throw std::runtime_error("unserialize(): error in " + std::string(value));
  }
  return std::string(text);
}

std::string carbon(std::chrono::sys_seconds time) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}+00:00",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(time)));
}

std::chrono::sys_seconds carbon_time(std::string_view text) {
  const std::string all(text);
  std::array<int, 8> part{};
  char sign = 'Z';
  std::sscanf(all.c_str(), "%d-%d-%dT%d:%d:%d%c%d:%d", &part[0], &part[1], &part[2], &part[3],
              &part[4], &part[5], &sign, &part[6], &part[7]);
  const auto east = std::chrono::hours(part[6]) + std::chrono::minutes(part[7]);
  const std::chrono::year_month_day day{std::chrono::year{part[0]},
                                        std::chrono::month{static_cast<unsigned>(part[1])},
                                        std::chrono::day{static_cast<unsigned>(part[2])}};
  const auto local = std::chrono::sys_days(day) + std::chrono::hours(part[3]) +
                     std::chrono::minutes(part[4]) + seconds(part[5]);
  // What is written in another way comes out in another way.
  const auto zone = sign == 'Z' ? "Z" : fmt::format("{}{:02}:{:02}", sign, part[6], part[7]);
  const bool is_zone = sign == 'Z' || sign == '+' || sign == '-';
  if (!is_zone || all != carbon(local).substr(0, 19) + zone) {
    throw std::runtime_error("Carbon cannot parse " + all);
  }
  return local - (sign == '-' ? -east : east);
}

bool CacheLock::get(seconds ttl) {
  if (ttl == seconds::zero()) return redis_.integer({"SETNX", key_, owner_}) == 1;
  return redis_.text({"SET", key_, owner_, "EX", number_of(ttl), "NX"}) == "OK";
}

bool CacheLock::block(seconds ttl, std::chrono::milliseconds patience) {
  constexpr auto pause = std::chrono::milliseconds(250);
  const auto until = std::chrono::steady_clock::now() + patience;
  while (!get(ttl)) {
    if (std::chrono::steady_clock::now() + pause >= until) return false;
    std::this_thread::sleep_for(pause);
  }
  return true;
}

bool CacheLock::release() {
  return redis_.integer({"EVAL",
                         "local mine = redis.call('get', KEYS[1]) == ARGV[1] "
                         "return mine and redis.call('del', KEYS[1]) or 0",
                         "1", key_, owner_}) == 1;
}

void CacheLock::force_release() { redis_.call({"DEL", key_}); }

bool CacheLock::refresh(seconds ttl) {
  return redis_.integer({"EVAL",
                         "local mine = redis.call('get', KEYS[1]) == ARGV[1] "
                         "return mine and redis.call('expire', KEYS[1], ARGV[2]) or 0",
                         "1", key_, owner_, number_of(ttl)}) == 1;
}

// Cache::put and Cache::get leave numbers as they are.
void ForrstServer::put(std::string_view field, const std::string& text, seconds ttl) {
  redis_.call(
      {"SETEX", text_key(field), number_of(ttl), is_numeric(text) ? text : php_serialized(text)});
}

std::optional<std::string> ForrstServer::get(std::string_view field) {
  const auto reply = redis_.call({"GET", text_key(field)});
  if (reply->type != REDIS_REPLY_STRING) return std::nullopt;
  const std::string value(net::resp::text_of(*reply));
  return is_numeric(value) ? value : php_unserialized(value);
}

bool ForrstServer::acquire(const std::string& owner, seconds ttl) {
  CacheLock lock(redis_, key_, owner);
  if (!lock.get(ttl)) {
    lock.release();
    clear_texts();
    return false;
  }
  const auto now = clock_of_the_program();
  constexpr seconds buffer(10);
  put("owner", owner, ttl + buffer);
  put("acquired_at", carbon(now), ttl + buffer);
  put("expires_at", carbon(now + ttl), ttl + buffer);
  return true;
}

bool ForrstServer::auto_release(const std::string& owner) {
  if (!CacheLock(redis_, key_, owner).release()) return false;
  clear_texts();
  return true;
}

ForrstServer::Status ForrstServer::status() {
  const auto owner = get("owner");
  if (!owner) return {};
  Status found{true, *owner, get("acquired_at").value_or(""), get("expires_at").value_or(""), {}};
  if (!found.expires_at.empty()) {
    const auto left = carbon_time(found.expires_at) - clock_of_the_program();
    found.ttl_remaining = std::max(seconds::zero(), left);
  }
  return found;
}

std::string ForrstServer::release(const std::string& owner) {
  const auto stored = get("owner");
  if (!stored) return "LOCK_NOT_FOUND";
  if (*stored != owner) return "LOCK_OWNERSHIP_MISMATCH";
  const bool released = CacheLock(redis_, key_, owner).release();
  clear_texts();
  return released ? "released" : "not released";
}

std::string ForrstServer::force_release() {
  if (!get("owner")) return "LOCK_NOT_FOUND";
  CacheLock(redis_, key_, "").force_release();
  clear_texts();
  return "released";
}

std::vector<std::string> ForrstServer::text_keys() const {
  return {text_key("owner"), text_key("acquired_at"), text_key("expires_at")};
}

std::vector<std::string> ForrstServer::texts() {
  std::vector<std::string> all;
  for (const auto& key : text_keys()) all.push_back(redis_.text({"GET", key}));
  return all;
}

void ForrstServer::clear_texts() {
  for (const auto& key : text_keys()) redis_.call({"DEL", key});
}

}  // namespace holdfast::test
