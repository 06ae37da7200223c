// SPDX-License-Identifier: Apache-2.0
//
// The nodes that Holdfast's workflows are made of, as n8n writes them. Ids are placeholders, made
// real by resolve().
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace holdfast::n8n {

struct Place {
  double x = 0;
  double y = 0;
};

// The names of the types that are made or recognised.
inline constexpr std::string_view type_code = "n8n-nodes-base.code";
inline constexpr std::string_view type_execute_workflow = "n8n-nodes-base.executeWorkflow";
inline constexpr std::string_view type_if = "n8n-nodes-base.if";
inline constexpr std::string_view type_merge = "n8n-nodes-base.merge";
inline constexpr std::string_view type_redis = "n8n-nodes-base.redis";
inline constexpr std::string_view type_split_in_batches = "n8n-nodes-base.splitInBatches";
inline constexpr std::string_view type_sticky_note = "n8n-nodes-base.stickyNote";
inline constexpr std::string_view type_stop = "n8n-nodes-base.stopAndError";

struct NodeHead {
  std::string_view slug;  // for its id
  std::string_view name;
  std::string_view type;
  double version = 1;
  Place place;
};

boost::json::object make_node(const NodeHead& head, boost::json::object parameters);

boost::json::object code_node(std::string_view slug, std::string_view name, Place place,
                              std::string_view code);
// Of typeVersion 2.2, true if the expression is.
boost::json::object if_node(std::string_view slug, std::string_view name, Place place,
                            std::string_view expression);
boost::json::object stop_node(std::string_view slug, std::string_view name, Place place,
                              std::string_view message);
// With the credential of the environment file.
boost::json::object redis_node(std::string_view slug, std::string_view name, Place place,
                               boost::json::object parameters);
// Deletes one key.
boost::json::object delete_node(std::string_view slug, std::string_view name, Place place,
                                std::string_view key);
// Calls the workflow that the environment file names workflows.<key>, with inputs by name.
boost::json::object call_node(std::string_view slug, std::string_view name, Place place,
                              std::string_view key, boost::json::object inputs);
// The condition of an if, for a parameter `conditions`.
boost::json::object is_true(std::string_view slug, std::string_view expression);

// A number as n8n writes it: 2, not 2.0.
boost::json::value number(double value);

// The `connections` of a workflow.
class Wires {
 public:
  explicit Wires(boost::json::object& connections) : connections_(connections) {}

  // From an output to an input, both counted from 0, behind what is there.
  void join(std::string_view from, std::size_t output, std::string_view to, std::size_t input = 0);
  // Each to the first input of the next.
  template <typename... Names>
  void chain(std::string_view first, std::string_view second, Names... more) {
    join(first, 0, second);
    if constexpr (sizeof...(more) > 0) chain(second, more...);
  }
  // The list of an output, made if there is none.
  boost::json::array& output(std::string_view from, std::size_t number);

 private:
  boost::json::object& connections_;
};

}  // namespace holdfast::n8n
