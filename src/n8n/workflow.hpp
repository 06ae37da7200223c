// SPDX-License-Identifier: Apache-2.0
//
// A workflow as n8n exports it, and questions about its graph. Keys that nobody here knows stay as
// they are, and in their order.
#pragma once

#include <holdfast/error.hpp>

#include "n8n/nodes.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::n8n {

// An output of a node that leads nowhere.
struct End {
  std::string node;
  std::size_t output = 0;
};

class Workflow {
 public:
  // Errors: bad_input with the place and the rule for what n8n could not run: no nodes or
  // connections, a name twice, a connection from or to a node that is not there.
  static Result<Workflow> parse(std::string_view text, std::string_view file_name);

  std::string text() const;
  boost::json::object& root() { return root_; }
  const boost::json::object& root() const { return root_; }

  std::string name() const;
  const boost::json::array& nodes() const { return root_.at("nodes").get_array(); }
  void add(boost::json::array nodes);
  Wires wires() { return Wires(root_.at("connections").get_object()); }
  // Null if there is none of that name.
  const boost::json::object* find(std::string_view node) const;

  Place place_of(std::string_view node) const;
  // All nodes but these.
  void shift_right(double by, const std::set<std::string>& but);

  // What starts it, in the order of the file: no sticky note, nothing that is switched off, and
  // no part of an AI agent.
  std::vector<std::string> triggers() const;
  // What each output leads to, as connections say it; outputs that lead nowhere are empty.
  std::vector<boost::json::array> outputs_of(std::string_view node) const;
  // Everything that runs behind a node, itself included, without going through those of `but`.
  std::set<std::string> behind(std::string_view node, const std::set<std::string>& but = {}) const;
  // Where what runs behind a node ends: nodes that lead nowhere, and loops with nothing after them.
  std::vector<End> ends_behind(std::string_view node) const;

 private:
  explicit Workflow(boost::json::object root) : root_(std::move(root)) {}
  boost::json::array& mutable_nodes() { return root_.at("nodes").get_array(); }

  boost::json::object root_;
};

std::string_view type_of(const boost::json::object& node);
std::string_view name_of(const boost::json::object& node);
// Whether a Merge runs only with all of its inputs: the mode "Choose Branch".
bool waits_for_all(const boost::json::object& merge);

}  // namespace holdfast::n8n
