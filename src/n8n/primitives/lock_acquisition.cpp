// SPDX-License-Identifier: Apache-2.0
#include "n8n/nodes.hpp"
#include "n8n/placeholders.hpp"
#include "n8n/primitives/build.hpp"

namespace holdfast::n8n {
namespace {

namespace json = boost::json;

constexpr std::string_view lock_key = "={{ $('Build Lock Context').first().json.key }}";
constexpr std::string_view ttl = "={{ $('Build Lock Context').first().json.ttl }}";

// What the others of the same Redis read to learn whose lock it is.
constexpr std::string_view meta =
    "={{ JSON.stringify({ lock_id: $('Build Lock Context').first().json.lock_id, "
    "workflow_id: $('Build Lock Context').first().json.workflow_id, "
    "workflow_name: $('Build Lock Context').first().json.workflow_name, "
    "execution_id: $('Build Lock Context').first().json.executionId, "
    "locked_at: $('Evaluate Acquired').first().json.locked_at }) }}";

constexpr std::string_view held =
    "=Lock acquisition failed (fail-fast): scope "
    "'{{ $('Build Lock Context').first().json.scope }}' is held "
    "(count={{ $('Evaluate Acquired').first().json.count }}). "
    "Caller passed wait_till_lock_released=false.";

constexpr std::string_view timed_out =
    "=Lock acquisition timed out after "
    "{{ $('Build Lock Context').first().json.max_wait_seconds }}s waiting for scope "
    "'{{ $('Build Lock Context').first().json.scope }}'.";

void add_attempt(json::array& nodes) {
  nodes.push_back(called_trigger("la-trigger", acquisition_inputs()));
  nodes.push_back(code_node("la-build-context", "Build Lock Context", {208, 0},
                            code_of("lock_acquisition/build_lock_context")));
  nodes.push_back(redis_node("la-incr", "INCR Acquire Attempt", {432, 0},
                             {{"operation", "incr"},
                              {"key", lock_key},
                              {"expire", true},
                              {"ttl", ttl},
                              {"options", json::object()}}));
  nodes.push_back(code_node("la-evaluate", "Evaluate Acquired", {656, 0},
                            code_of("lock_acquisition/evaluate_acquired")));
}

void add_success(json::array& nodes) {
  nodes.push_back(redis_node("la-set-meta", "Set Lock Meta", {1104, -160},
                             {{"operation", "set"},
                              {"key", "={{ $('Build Lock Context').first().json.meta_key }}"},
                              {"value", meta},
                              {"keyType", "string"},
                              {"expire", true},
                              {"ttl", ttl}}));
  nodes.push_back(code_node("la-output", "Build Acquire Output", {1328, -160},
                            code_of("lock_acquisition/build_acquire_output")));
  nodes.push_back(if_node("la-acquired", "Acquired?", {880, 0}, "={{ $json.acquired === true }}"));
}

void add_wait(json::array& nodes) {
  nodes.push_back(
      if_node("la-should-wait", "Should Wait?", {1104, 192},
              "={{ $('Build Lock Context').first().json.wait_till_lock_released === true }}"));
  nodes.push_back(stop_node("la-fail-fast", "Fail Fast — Lock Held", {1328, 320}, held));
  auto wait =
      make_node({"la-wait-poll", "Wait Before Poll", "n8n-nodes-base.wait", 1.1, {1328, 64}},
                {{"amount", 1}, {"unit", "seconds"}});
  wait["webhookId"] = uuid_placeholder("la-wait-poll-webhook");
  nodes.push_back(std::move(wait));
  nodes.push_back(redis_node("la-get-lock", "GET Lock", {1552, 64},
                             {{"operation", "get"},
                              {"propertyName", "=LOCK_VALUE"},
                              {"key", lock_key},
                              {"keyType", "string"},
                              {"options", json::object()}}));
  nodes.push_back(code_node("la-check-wait", "Check Wait State", {1776, 64},
                            code_of("lock_acquisition/check_wait_state")));
  nodes.push_back(
      if_node("la-timeout", "Timeout?", {2000, 64}, "={{ $json.state === 'timeout' }}"));
  nodes.push_back(stop_node("la-timeout-stop", "Wait Timeout — Stop", {2224, -64}, timed_out));
  nodes.push_back(
      if_node("la-retry", "Retry INCR?", {2224, 192}, "={{ $json.state === 'retry-incr' }}"));
}

}  // namespace

Graph lock_acquisition() {
  Graph graph;
  add_attempt(graph.nodes);
  add_success(graph.nodes);
  add_wait(graph.nodes);
  Wires wires(graph.connections);
  wires.chain("Execute Workflow Trigger", "Build Lock Context", "INCR Acquire Attempt",
              "Evaluate Acquired", "Acquired?");
  // Nothing stands between the count of 1 and the meta: without it, a release takes the lock for
  // one that is free.
  wires.chain("Acquired?", "Set Lock Meta", "Build Acquire Output");
  wires.join("Acquired?", 1, "Should Wait?");
  wires.chain("Should Wait?", "Wait Before Poll", "GET Lock", "Check Wait State", "Timeout?",
              "Wait Timeout — Stop");
  wires.join("Should Wait?", 1, "Fail Fast — Lock Held");
  wires.join("Timeout?", 1, "Retry INCR?");
  wires.join("Retry INCR?", 0, "INCR Acquire Attempt");
  wires.join("Retry INCR?", 1, "Wait Before Poll");
  return graph;
}

}  // namespace holdfast::n8n
