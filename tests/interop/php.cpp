// SPDX-License-Identifier: Apache-2.0
#include "php.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <regex>
#include <stdexcept>
#include <thread>

namespace holdfast::test {

namespace {

using std::chrono::seconds;

std::string number_of(seconds ttl) { return std::to_string(ttl.count()); }

bool is_numeric(const std::string& text) {
  static const std::regex number(R"(\s*[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?\s*)");
  return std::regex_match(text, number);
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
  static const std::regex form(
      R"((\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:Z|([+-])(\d\d):(\d\d)))");
  std::match_results<std::string_view::const_iterator> parts;
  if (!std::regex_match(text.begin(), text.end(), parts, form)) {
    throw std::runtime_error("Carbon cannot parse " + std::string(text));
  }
  const auto number = [&](std::size_t at) { return parts[at].matched ? std::stoi(parts[at]) : 0; };
  const std::chrono::year_month_day day(std::chrono::year(number(1)),
                                        std::chrono::month(static_cast<unsigned>(number(2))),
                                        std::chrono::day(static_cast<unsigned>(number(3))));
  const auto east = std::chrono::hours(number(8)) + std::chrono::minutes(number(9));
  return std::chrono::sys_days(day) + std::chrono::hours(number(4)) +
         std::chrono::minutes(number(5)) + seconds(number(6)) - (parts[7] == "-" ? -east : east);
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
