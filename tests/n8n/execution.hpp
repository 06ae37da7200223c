// SPDX-License-Identifier: Apache-2.0
//
// Generated workflows, run by run_workflow.mjs on a Redis of the test's own.
#pragma once

#include "n8n/add_lock.hpp"
#include "n8n/add_rate_limit.hpp"
#include "n8n/json_text.hpp"
#include "n8n/placeholders.hpp"
#include "n8n/primitives.hpp"
#include "n8n/workflow_text.hpp"
#include "support/program.hpp"
#include "support/redis_server.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace holdfast::test {

// What she gives to the workflow that takes a lock.
inline const boost::json::object alice{
    {"scope", "s"},        {"ttl_seconds", 60},       {"execution_id", "7"},   {"lock_id", "alice"},
    {"workflow_id", "w1"}, {"workflow_name", "Sync"}, {"max_wait_seconds", 20}};

class Execution : public testing::Test {
 protected:
  using Value = boost::json::value;
  using Object = boost::json::object;

  void SetUp() override {
    if (test::run({"sh", "-c", "command -v node"}).code != 0) {
      GTEST_SKIP() << "node is not installed; tools/install_packages test installs it";
    }
  }

  static Value primitive(std::string_view key, std::string_view yaml = full_env) {
    boost::json::array workflows{n8n::make_primitive(*n8n::find_primitive(key), {})};
    auto done = n8n::resolve(std::move(workflows), env_of(yaml), "env.yml");
    if (!done) throw std::runtime_error(done.error().message);
    return done->at(0);
  }

  // The results of the runs, as run_workflow.mjs describes them.
  std::vector<Object> perform(std::vector<Object> runs) const {
    boost::json::array list;
    for (auto& each : runs) list.push_back(std::move(each));
    const Object job{{"redis_port", redis_.port()},
                     {"has_crypto", has_crypto_},
                     {"workflows",
                      {{"wf-acquire", primitive("lock_acquisition")},
                       {"wf-release", primitive("lock_release")},
                       {"wf-rate", primitive("rate_limit_check")}}},
                     {"runs", std::move(list)}};
    const auto finished = test::run({"node", beside_the_tests("run_workflow.mjs").string()},
                                    {.input = boost::json::serialize(job)});
    if (finished.code != 0) throw std::runtime_error(finished.err);
    std::vector<Object> results;
    auto parsed = boost::json::parse(finished.out);
    for (auto& each : parsed.as_array()) {
      results.push_back(std::move(each.as_object()));
    }
    return results;
  }
  Object perform_one(Object run) const { return perform({std::move(run)}).front(); }

  static Object call(std::string_view key, Object input) {
    return {{"workflow", primitive(key)}, {"items", {std::move(input)}}};
  }
  static Object acquire(Object input) { return call("lock_acquisition", std::move(input)); }
  static Object release(std::string_view scope, Value lock_id) {
    return call("lock_release", {{"scope", scope}, {"lock_id", std::move(lock_id)}});
  }

  static std::string error_of(const Object& result) {
    const auto* error = result.if_contains("error");
    return error == nullptr ? "" : std::string(error->as_string());
  }
  // The only item that came out.
  static Object item_of(const Object& result) {
    EXPECT_EQ(error_of(result), "");
    const auto* items = result.if_contains("items");
    if (items == nullptr || items->as_array().size() != 1) {
      ADD_FAILURE() << boost::json::serialize(result);
      return {};
    }
    return items->as_array().front().as_object();
  }
  // "INCR k; EXPIRE k 60"
  static std::string commands_of(const Object& result) {
    std::string out;
    for (const auto& command : result.at("commands").as_array()) {
      if (!out.empty()) out += "; ";
      for (const auto& word : command.as_array()) {
        if (&word != &command.as_array().front()) out += ' ';
        out += word.as_string();
      }
    }
    return out;
  }
  static std::vector<std::string> ran(const Object& result) {
    std::vector<std::string> names;
    for (const auto& name : result.at("ran").as_array()) names.emplace_back(name.as_string());
    return names;
  }

  long long keys() { return raw_.integer({"DBSIZE"}); }

  RedisServer redis_;
  RawRedis raw_{redis_};
  bool has_crypto_ = true;
};

}  // namespace holdfast::test
