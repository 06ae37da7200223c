// SPDX-License-Identifier: Apache-2.0
//
// The primitives of n8n as its nodes send them, beside a client of ours.
#pragma once

#include <holdfast/n8n.hpp>

#include "interop_fixture.hpp"

namespace holdfast::test {

// The original, node by node.
class Nodes {
 public:
  explicit Nodes(const RedisServer& server) : server_(server) {}

  std::int64_t incr(const std::string& key, int ttl) const {
    const auto count = RawRedis(server_).integer({"INCR", key});
    if (ttl > 0) RawRedis(server_).call({"EXPIRE", key, std::to_string(ttl)});
    return count;
  }
  void set(const std::string& key, const std::string& value, int ttl) const {
    RawRedis(server_).call({"SET", key, value});
    RawRedis(server_).call({"EXPIRE", key, std::to_string(ttl)});
  }
  std::string get(const std::string& key) const { return RawRedis(server_).text({"GET", key}); }
  void del(const std::string& key) const { RawRedis(server_).call({"DEL", key}); }

  static std::string key(const std::string& scope) { return "n8n-lock-" + scope; }
  static std::string meta(const std::string& scope) { return key(scope) + ":meta"; }
  static std::string meta_text(const std::string& lock_id, const std::string& execution) {
    return R"({"lock_id":")" + lock_id +
           R"(","workflow_id":"w7","workflow_name":"Their flow","execution_id":")" + execution +
           R"(","locked_at":"2026-11-16T03:45:12.345Z"})";
  }

  // lock_acquisition without waiting: the count.
  std::int64_t acquire(const std::string& scope, const std::string& lock_id, int ttl,
                       const std::string& execution = "their-execution") const {
    const auto count = incr(key(scope), ttl);
    if (count == 1) set(meta(scope), meta_text(lock_id, execution), ttl);
    return count;
  }
  // lock_release: whether it matched.
  bool release(const std::string& scope, const std::string& lock_id) const {
    const auto text = get(meta(scope));
    const bool is_match =
        text.empty() || text.find(R"("lock_id":")" + lock_id + '"') != std::string::npos;
    if (!is_match) return false;
    del(key(scope));
    del(meta(scope));
    return true;
  }
  // error_handler_lock_cleanup for one scope.
  bool clean_up(const std::string& scope, const std::string& execution) const {
    const auto text = get(meta(scope));
    if (text.find(R"("execution_id":")" + execution + '"') == std::string::npos) return false;
    del(key(scope));
    del(meta(scope));
    return true;
  }

 private:
  const RedisServer& server_;
};

class N8n : public testing::Test {
 protected:
  N8n() : raw(shared_server()), nodes(shared_server()), client(opened()) { raw.call({"FLUSHALL"}); }
  static Client opened() {
    auto client = open(n8n::store_url(shared_server().url()));
    if (!client) throw std::runtime_error(client.error().message);
    return std::move(*client);
  }
  Result<n8n::Lock> try_once(const std::string& scope) const {
    return n8n::acquire(client, {.scope = scope, .wait_till_lock_released = false});
  }
  // What is left beside our own counter of fences.
  std::vector<std::string> keys() {
    std::vector<std::string> all;
    const auto reply = raw.call({"KEYS", "*"});
    for (std::size_t i = 0; i < reply->elements; ++i) {
      const std::string key(net::resp::text_of(*reply->element[i]));
      if (key != "hf:fence") all.push_back(key);
    }
    return all;
  }

  RawRedis raw;
  Nodes nodes;
  Client client;
};

}  // namespace holdfast::test
