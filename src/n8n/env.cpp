// SPDX-License-Identifier: Apache-2.0
#include "n8n/env.hpp"

#include "n8n/limits.hpp"
#include "text/config_node.hpp"
#include "text/quote.hpp"

#include <fmt/format.h>

namespace holdfast::n8n {
namespace {

namespace json = boost::json;
using text::ConfigMark;
using text::ConfigNode;

// An alias may refer to what holds it, so depth has an end.
constexpr int max_env_depth = 32;

std::unexpected<Error> refuse(std::string_view file_name, const ConfigMark& mark,
                              std::string_view reason) {
  return fail(Errc::bad_input, fmt::format("{}:{}: {}", file_name, mark.line_number(), reason));
}

struct Reader {
  std::string_view file_name;
  std::size_t values = 0;

  Result<json::value> read(const ConfigNode& node, int depth) {
    // A few aliases of aliases would mean more values than the file has bytes.
    if (depth > max_env_depth || ++values > max_env_bytes) {
      return refuse(file_name, node.mark(), "is nested too deeply");
    }
    if (node.is_scalar()) return json::value(node.scalar());
    if (node.is_list()) return read_list(node, depth);
    if (node.is_map()) return read_map(node, depth);
    return json::value(nullptr);
  }

  Result<json::value> read_list(const ConfigNode& node, int depth) {
    json::array out;
    for (const auto& each : node.elements()) {
      auto value = read(each, depth + 1);
      if (!value) return value;
      out.push_back(std::move(*value));
    }
    return json::value(std::move(out));
  }

  Result<json::value> read_map(const ConfigNode& node, int depth) {
    json::object out;
    for (const auto& each : node.entries()) {
      if (!each.key.is_scalar()) {
        return refuse(file_name, each.key.mark(), "a key must be a word");
      }
      if (out.contains(each.key.scalar())) {
        return refuse(file_name, each.key.mark(),
                      fmt::format("key {} stands twice", text::quoted(each.key.scalar())));
      }
      auto value = read(each.value, depth + 1);
      if (!value) return value;
      out.emplace(each.key.scalar(), std::move(*value));
    }
    return json::value(std::move(out));
  }
};

bool is_sentinel(std::string_view text) {
  return text.empty() || text == "placeholder" || text.starts_with("your-");
}

}  // namespace

Result<Env> Env::parse(std::string_view yaml, std::string_view file_name) {
  if (yaml.size() > max_env_bytes) {
    return fail(Errc::limit_reached, fmt::format("{}: has more than {} bytes (max_env_bytes)",
                                                 file_name, max_env_bytes));
  }
  const auto root = ConfigNode::parse(yaml);
  if (!root) {
    return refuse(file_name, root.error().mark, "is not YAML: " + root.error().message);
  }
  Env env;
  if (root->is_null()) return env;
  if (!root->is_map()) return refuse(file_name, root->mark(), "must have the form KEY: VALUE");
  auto value = Reader{file_name}.read(*root, 0);
  if (!value) return std::unexpected(std::move(value.error()));
  env.root_ = std::move(*value);
  return env;
}

const json::value* Env::find(std::string_view path) const {
  const auto* at = &root_;
  while (at != nullptr && !path.empty()) {
    const auto end = path.find('.');
    const auto* object = at->if_object();
    at = object == nullptr ? nullptr : object->if_contains(path.substr(0, end));
    path = end == std::string_view::npos ? "" : path.substr(end + 1);
  }
  return at == nullptr || at->is_null() ? nullptr : at;
}

std::optional<std::string> Env::id(std::string_view path) const {
  const auto* value = find(path);
  if (value == nullptr || !value->is_string()) return std::nullopt;
  std::string text(value->get_string());
  if (is_sentinel(text)) return std::nullopt;
  return text;
}

std::vector<std::string> Env::lock_scopes() const {
  std::vector<std::string> out;
  const auto* value = find("lockScopes");
  if (value == nullptr || !value->is_array()) return out;
  for (const auto& each : value->get_array()) {
    if (each.is_string()) out.emplace_back(each.get_string());
  }
  return out;
}

}  // namespace holdfast::n8n
