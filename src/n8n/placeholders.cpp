// SPDX-License-Identifier: Apache-2.0
#include "n8n/placeholders.hpp"

#include "n8n/uuid.hpp"

#include <boost/json/serialize.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

namespace holdfast::n8n {
namespace {

namespace json = boost::json;

constexpr std::string_view env_heads[] = {"{{@env:", "{{INTERPOLATE_env:"};
constexpr std::string_view uuid_head = "{{@uuid:";
// An earlier form, which nobody resolves any more.
constexpr std::string_view old_heads[] = {"{{@:env:", "{{HYDRATE:"};

void each_text(json::value& value, const std::function<void(json::string&)>& visit) {
  if (auto* text = value.if_string()) return visit(*text);
  if (auto* array = value.if_array()) {
    for (auto& each : *array) each_text(each, visit);
  }
  if (auto* object = value.if_object()) {
    for (auto& each : *object) each_text(each.value(), visit);
  }
}

// Puts `replacement(word)` in the place of every HEADword}}; nothing leaves it as it is.
template <typename Replacement>
void replace(json::string& text, std::string_view head, Replacement replacement) {
  std::size_t at = text.find(head);
  while (at != json::string::npos) {
    const auto end = text.find("}}", at);
    if (end == json::string::npos) return;
    const auto word = std::string(text.subview(at + head.size(), end - at - head.size()));
    std::size_t next = end + 2;
    if (const std::optional<std::string> found = replacement(word)) {
      text.replace(at, end + 2 - at, *found);
      next = at + found->size();
    }
    at = text.find(head, next);
  }
}

// What may be missing, and what it is then.
std::optional<std::string> default_of(std::string_view path) {
  if (path == "displayName" || path == "workflowNamePostfix") return "";
  if (path == "lockScopes") return "[]";
  return std::nullopt;
}

bool must_say_something(std::string_view path) {
  return path.starts_with("workflows.") || path.starts_with("credentials.");
}

class Resolver {
 public:
  explicit Resolver(const Env& env) : env_(env) {}

  std::optional<std::string> value_of(const std::string& path) {
    if (must_say_something(path)) {
      auto id = env_.id(path);
      if (!id) note_missing(path);
      return id;
    }
    const auto* value = env_.find(path);
    if (value == nullptr) {
      auto otherwise = default_of(path);
      if (!otherwise) note_missing(path);
      return otherwise;
    }
    if (const auto* text = value->if_string()) return std::string(*text);
    return json::serialize(*value);
  }

  const std::vector<std::string>& missing() const { return missing_; }

 private:
  void note_missing(const std::string& path) {
    if (std::ranges::find(missing_, path) == missing_.end()) missing_.push_back(path);
  }

  const Env& env_;
  std::vector<std::string> missing_;
};

std::string without_blanks(std::string_view text) {
  const auto begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(' ') + 1 - begin));
}

const std::string_view* find_old_form(json::value& workflow) {
  const std::string_view* found = nullptr;
  each_text(workflow, [&](json::string& text) {
    for (const auto& head : old_heads) {
      if (text.find(head) != json::string::npos) found = &head;
    }
  });
  return found;
}

}  // namespace

std::string env_placeholder(std::string_view path) { return fmt::format("{{{{@env:{}}}}}", path); }

std::string uuid_placeholder(std::string_view slug) {
  return fmt::format("{{{{@uuid:{}}}}}", slug);
}

bool has_placeholder(const json::value& value) {
  bool found = false;
  auto copy = value;
  each_text(copy, [&](json::string& text) {
    found = found || text.find(env_heads[0]) != json::string::npos ||
            text.find(env_heads[1]) != json::string::npos ||
            text.find(uuid_head) != json::string::npos;
  });
  return found;
}

Result<void> resolve_env(json::value& part, const Env& env, std::string_view env_file) {
  if (const auto* head = find_old_form(part)) {
    return fail(Errc::bad_input,
                fmt::format("{}…}}}} is an old form of placeholder; write {{{{@env:…}}}}", *head));
  }
  Resolver resolver(env);
  each_text(part, [&](json::string& text) {
    for (const auto head : env_heads) {
      replace(text, head, [&](const std::string& path) { return resolver.value_of(path); });
    }
  });
  if (resolver.missing().empty()) return {};
  return fail(Errc::bad_input, fmt::format("{}: these are missing, or only examples: {}", env_file,
                                           fmt::join(resolver.missing(), ", ")));
}

void resolve_uuids(json::value& part, std::string_view workflow) {
  each_text(part, [&](json::string& text) {
    replace(text, uuid_head,
            [&](std::string_view slug) { return std::optional(uuid_of(workflow, slug)); });
  });
}

Result<json::array> resolve(json::array workflows, const Env& env, std::string_view env_file) {
  json::value all = std::move(workflows);
  if (auto done = resolve_env(all, env, env_file); !done) {
    return std::unexpected(std::move(done.error()));
  }
  for (auto& each : all.get_array()) {
    auto& name = each.as_object()["name"];
    const auto title = without_blanks(name.as_string());
    name = title;
    resolve_uuids(each, title);
  }
  return std::move(all.get_array());
}

}  // namespace holdfast::n8n
