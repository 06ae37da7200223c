// SPDX-License-Identifier: Apache-2.0
#include "server/http/fields.hpp"

#include "text/duration.hpp"
#include "text/fence.hpp"

#include <boost/json/array.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace holdfast::server {

namespace {

std::string duration_text(Duration duration) {
  return text::format_duration(std::chrono::duration_cast<std::chrono::milliseconds>(duration));
}

}  // namespace

const boost::json::value* Fields::find(std::string_view name) {
  known_.push_back(name);
  const auto* value = object_.if_contains({name.data(), name.size()});
  if (value == nullptr) return nullptr;
  ++found_;
  return value->is_null() ? nullptr : value;
}

void Fields::refuse(std::string_view name, std::string_view rule) {
  if (!error_) error_ = Error{Errc::bad_input, fmt::format("{}{}: {}", path_, name, rule)};
}

std::optional<std::string_view> Fields::text(std::string_view name, std::size_t max_bytes) {
  const auto* value = find(name);
  if (value == nullptr) return std::nullopt;
  const auto* text = value->if_string();
  if (text == nullptr) {
    refuse(name, "must be a string");
    return std::nullopt;
  }
  if (text->size() > max_bytes) {
    refuse(name, fmt::format("must be at most {} bytes long", max_bytes));
    return std::nullopt;
  }
  return std::string_view(text->data(), text->size());
}

std::string_view Fields::needed_text(std::string_view name, std::size_t max_bytes) {
  const bool failed_before = failed();
  const auto found = text(name, max_bytes);
  if (found && !found->empty()) return *found;
  if (failed_before == failed()) refuse(name, "must be given, as a string that is not empty");
  return {};
}

std::optional<std::uint64_t> Fields::number(std::string_view name, std::uint64_t least,
                                            std::uint64_t most) {
  const auto* value = find(name);
  if (value == nullptr) return std::nullopt;
  std::optional<std::uint64_t> number;
  if (const auto* is_signed = value->if_int64(); is_signed != nullptr && *is_signed >= 0) {
    number = static_cast<std::uint64_t>(*is_signed);
  }
  if (const auto* is_unsigned = value->if_uint64()) number = *is_unsigned;
  if (number && *number >= least && *number <= most) return number;
  refuse(name, fmt::format("must be an integer from {} to {}", least, most));
  return std::nullopt;
}

std::optional<Fence> Fields::fence(std::string_view name) {
  const auto* value = find(name);
  if (value == nullptr) return std::nullopt;
  const auto fence = text::fence_in(*value);
  if (!fence) refuse(name, text::fence_rule);
  return fence;
}

std::optional<bool> Fields::yes_or_no(std::string_view name) {
  const auto* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (const auto* flag = value->if_bool()) return *flag;
  refuse(name, "must be true or false");
  return std::nullopt;
}

std::optional<Duration> Fields::duration(std::string_view name, Duration least, Duration most) {
  const auto* value = find(name);
  if (value == nullptr) return std::nullopt;
  const auto* text = value->if_string();
  if (text == nullptr) {
    refuse(name, R"(must be a duration in a string, such as "10s" or "250ms")");
    return std::nullopt;
  }
  auto parsed = text::parse_duration({text->data(), text->size()});
  if (!parsed) {
    refuse(name, parsed.error().message);
    return std::nullopt;
  }
  if (*parsed >= least && *parsed <= most) return *parsed;
  refuse(name, fmt::format("must be between {} and {}", duration_text(least), duration_text(most)));
  return std::nullopt;
}

const boost::json::object* Fields::object(std::string_view name) {
  const auto* value = find(name);
  if (value == nullptr) return nullptr;
  if (const auto* object = value->if_object()) return object;
  refuse(name, "must be an object");
  return nullptr;
}

const boost::json::array* Fields::array(std::string_view name) {
  const auto* value = find(name);
  if (value == nullptr) return nullptr;
  if (const auto* array = value->if_array()) return array;
  refuse(name, "must be an array");
  return nullptr;
}

Result<void> Fields::done() const {
  if (error_) return std::unexpected(*error_);
  if (found_ == object_.size()) return {};
  for (const auto& each : object_) {
    const std::string_view key(each.key().data(), each.key().size());
    if (std::ranges::find(known_, key) != known_.end()) continue;
    return fail(Errc::bad_input, fmt::format("{}{}: there is no such field", path_, key));
  }
  return {};
}

}  // namespace holdfast::server
