// SPDX-License-Identifier: Apache-2.0
#include "n8n/insert.hpp"

#include "n8n/placeholders.hpp"
#include "text/quote.hpp"

#include <boost/json/serialize.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace holdfast::n8n {

namespace json = boost::json;

Result<std::string> only_trigger(const Workflow& workflow) {
  auto triggers = workflow.triggers();
  if (triggers.empty()) {
    return fail(Errc::bad_input,
                "the workflow has no trigger: no node that is switched on starts it");
  }
  if (triggers.size() == 1) return std::move(triggers.front());
  for (auto& each : triggers) each = text::quoted(each);
  return fail(Errc::bad_input,
              fmt::format("the workflow has {} triggers, {}, and only one can be guarded; make a "
                          "workflow of what they share and call it, or switch the others off",
                          triggers.size(), fmt::join(triggers, ", ")));
}

Result<void> refuse_names(const Workflow& workflow, std::initializer_list<std::string_view> names,
                          std::string_view what) {
  for (const auto name : names) {
    if (workflow.find(name) == nullptr) continue;
    return fail(Errc::bad_input,
                fmt::format("the workflow has a node {} already; {}", text::quoted(name), what));
  }
  return {};
}

std::vector<json::array> take_outputs(Workflow& workflow, std::string_view node) {
  auto taken = workflow.outputs_of(node);
  auto wires = workflow.wires();
  for (std::size_t i = 0; i < taken.size(); ++i) wires.output(node, i).clear();
  return taken;
}

std::vector<std::size_t> used_outputs(const std::vector<json::array>& outputs) {
  std::vector<std::size_t> used;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].empty()) used.push_back(i);
  }
  if (used.empty()) used.push_back(0);
  return used;
}

json::object repeat_node(std::string_view slug, std::string_view name, Place place,
                         std::string_view source, std::size_t output) {
  const auto quoted = json::serialize(json::string(source));
  return code_node(slug, name, place, fmt::format("return $({}).all({});", quoted, output));
}

Result<void> fill(json::value& part, const Workflow& workflow, const Filling& filling) {
  if (filling.as_template) return {};
  if (filling.env != nullptr) {
    if (auto done = resolve_env(part, *filling.env, filling.env_file); !done) return done;
  }
  resolve_uuids(part, workflow.name());
  return {};
}

}  // namespace holdfast::n8n
