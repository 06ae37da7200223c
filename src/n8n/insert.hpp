// SPDX-License-Identifier: Apache-2.0
//
// What add_lock and add_rate_limit have in common: they put nodes between what starts a workflow
// and the rest of it.
#pragma once

#include <holdfast/error.hpp>

#include "n8n/env.hpp"
#include "n8n/workflow.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::n8n {

// Where the placeholders of the nodes that are added get their values from.
struct Filling {
  const Env* env = nullptr;  // none: those of the environment file stay
  std::string env_file;      // for messages
  bool as_template = false;  // all of them stay
};

// How far apart nodes are put on the canvas.
inline constexpr double column_width = 220;
inline constexpr double row_height = 160;

// The nodes behind a gate, by the name of their Code nodes.
inline constexpr std::string_view passed_name = "Rate Limit Passed";

// The one node that starts the workflow. Errors: bad_input if there is none, or naming them if
// there are several: whatever one of them starts would bypass what is added behind the other.
Result<std::string> only_trigger(const Workflow& workflow);

// Errors: bad_input if the workflow has a node of one of the names.
Result<void> refuse_names(const Workflow& workflow, std::initializer_list<std::string_view> names,
                          std::string_view what);

// Takes what the outputs of a node lead to, and leaves them leading nowhere. One list for each.
std::vector<boost::json::array> take_outputs(Workflow& workflow, std::string_view node);

// The numbers of the outputs that led somewhere; the first if none did.
std::vector<std::size_t> used_outputs(const std::vector<boost::json::array>& outputs);

// A Code node with the items of an output of another node, all of them.
boost::json::object repeat_node(std::string_view slug, std::string_view name, Place place,
                                std::string_view source, std::size_t output);

// Replaces the placeholders of `part` as `filling` says.
Result<void> fill(boost::json::value& part, const Workflow& workflow, const Filling& filling);

}  // namespace holdfast::n8n
