// SPDX-License-Identifier: Apache-2.0
#include "server/config_reader.hpp"

#include "model/utf8.hpp"
#include "server/config_json.hpp"
#include "text/duration.hpp"
#include "text/quote.hpp"
#include "text/url.hpp"

#include <boost/json/value.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <utility>

namespace holdfast::server {
namespace {

using text::quoted;

struct SizeUnit {
  std::string_view word;
  std::uint64_t bytes;
};

constexpr SizeUnit size_units[] = {
    {"GiB", 1U << 30U}, {"MiB", 1U << 20U}, {"KiB", 1U << 10U}, {"", 1}};

std::optional<std::uint64_t> parse_integer(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string shown_duration(Duration duration) {
  return text::format_duration(std::chrono::duration_cast<std::chrono::milliseconds>(duration));
}

// A key as it may stand in a message.
std::string shown(const std::string& key) {
  const bool is_harmless = key.size() <= 64 && model::is_printable_ascii(key);
  return is_harmless ? key : quoted(key);
}

bool has_control_character(std::string_view text) {
  return std::ranges::any_of(
      text, [](char byte) { return static_cast<unsigned char>(byte) < 0x20 || byte == 0x7f; });
}

}  // namespace

Result<std::uint64_t> parse_size(std::string_view text) {
  for (const auto& unit : size_units) {
    if (!text.ends_with(unit.word)) continue;
    const auto number = parse_integer(text.substr(0, text.size() - unit.word.size()));
    std::uint64_t bytes = 0;
    if (!number || __builtin_mul_overflow(*number, unit.bytes, &bytes)) break;
    return bytes;
  }
  return fail(Errc::bad_input,
              fmt::format("size {} must be an integer, perhaps with KiB, MiB or GiB behind it",
                          quoted(text)));
}

std::string format_size(std::uint64_t bytes) {
  const auto* const unit = std::ranges::find_if(size_units, [bytes](const SizeUnit& candidate) {
    return bytes != 0 && bytes % candidate.bytes == 0;
  });
  if (unit == std::end(size_units)) return "0";
  return fmt::format("{}{}", bytes / unit->bytes, unit->word);
}

std::string ConfigValue::where() const {
  return fmt::format("{}:{}: {}", file_name_, mark_.line_number(), name_);
}

std::unexpected<Error> ConfigValue::refuse(std::string_view reason) const {
  return fail(Errc::bad_input, fmt::format("{} {}", where(), reason));
}

std::unexpected<Error> ConfigValue::refuse(const Error& error) const {
  return fail(Errc::bad_input, fmt::format("{}: {}", where(), error.message));
}

std::unexpected<Error> ConfigValue::refuse_value(std::string_view rule) const {
  // It may be a URL with a password that stands in the wrong place.
  const auto shown = node_.is_scalar() ? quoted(text::masked(node_.scalar())) : "something else";
  return refuse(fmt::format("must be {}; got {}", rule, shown));
}

std::unexpected<Error> ConfigValue::refuse_key(std::string_view key) const {
  const ConfigValue map(file_name_, name_.substr(0, map_name_bytes_), {}, mark_);
  return map.refuse(fmt::format("has the unknown key {}", quoted(key)));
}

Result<void> ConfigValue::each_entry(const EntryReader& read) const {
  if (!node_.is_map()) return refuse("must have the form KEY: VALUE");
  std::set<std::string_view> seen;
  const auto entries = node_.entries();
  for (const auto& entry : entries) {
    const auto mark = entry.key.mark();
    const ConfigValue here(file_name_, name_, node_, mark);
    if (!entry.key.is_scalar()) return here.refuse("has a key that is not a word");
    const auto& key = entry.key.scalar();
    if (!seen.insert(key).second) {
      return here.refuse(fmt::format("has the key {} twice", quoted(key)));
    }
    ConfigValue value(file_name_, fmt::format("{}.{}", name_, shown(key)), entry.value, mark);
    value.map_name_bytes_ = name_.size();
    if (auto done = read(key, value); !done) return done;
  }
  return {};
}

Result<void> ConfigValue::each_element(const Reader& read) const {
  if (!node_.is_list()) return refuse("must be a list");
  std::size_t index = 0;
  for (const auto& node : node_.elements()) {
    const ConfigValue element(file_name_, fmt::format("{}[{}]", name_, index++), node, node.mark());
    if (auto done = read(element); !done) return done;
  }
  return {};
}

Result<std::string> ConfigValue::scalar(std::string_view rule) const {
  if (!node_.is_scalar()) return refuse_value(rule);
  return node_.scalar();
}

Result<void> ConfigValue::read(bool& out) const {
  return read_choice(out, {{"true", true}, {"false", false}});
}

Result<void> ConfigValue::read_text(std::string& out) const {
  constexpr std::string_view rule = "a text that is not empty, without control characters";
  auto text = scalar(rule);
  if (!text) return std::unexpected(std::move(text.error()));
  if (text->empty() || has_control_character(*text)) return refuse_value(rule);
  out = std::move(*text);
  return {};
}

Result<void> ConfigValue::read_text(std::string& out, TextCheck check) const {
  std::string text;
  if (auto read = read_text(text); !read) return read;
  if (auto checked = check(text); !checked) return refuse(checked.error());
  out = std::move(text);
  return {};
}

Result<void> ConfigValue::read_texts(std::vector<std::string>& out) const {
  std::vector<std::string> texts;
  const auto read_one = [&texts](const ConfigValue& value) {
    return value.read_text(texts.emplace_back());
  };
  if (auto done = node_.is_list() ? each_element(read_one) : read_one(*this); !done) return done;
  out = std::move(texts);
  return {};
}

Result<void> ConfigValue::read_duration(Duration& out, DurationRange range) const {
  const auto rule =
      fmt::format("from {} to {}", shown_duration(range.least), shown_duration(range.most));
  const auto text = scalar(rule);
  if (!text) return std::unexpected(text.error());
  const auto duration = text::parse_duration(*text);
  if (!duration) return refuse(fmt::format("must be {}: {}", rule, duration.error().message));
  if (*duration < range.least || *duration > range.most) return refuse_value(rule);
  out = *duration;
  return {};
}

Result<void> ConfigValue::read_number(double& out) const {
  constexpr std::string_view rule = "a number";
  const auto text = scalar(rule);
  if (!text) return std::unexpected(text.error());
  const auto value = parse_number(*text);
  if (!value) return refuse_value(rule);
  out = *value;
  return {};
}

Result<void> ConfigValue::read_json(boost::json::value& out) const {
  auto value = to_json(node_);
  if (!value) return refuse(value.error());
  out = std::move(*value);
  return {};
}

Result<std::uint64_t> ConfigValue::count(IntegerRange range) const {
  const auto rule = fmt::format("an integer from {} to {}", range.least, range.most);
  const auto text = scalar(rule);
  if (!text) return std::unexpected(text.error());
  const auto value = parse_integer(*text);
  if (!value || *value < range.least || *value > range.most) return refuse_value(rule);
  return *value;
}

Result<std::uint64_t> ConfigValue::size(IntegerRange range) const {
  const auto rule =
      fmt::format("a size from {} to {}", format_size(range.least), format_size(range.most));
  const auto text = scalar(rule);
  if (!text) return std::unexpected(text.error());
  const auto value = parse_size(*text);
  if (!value) return refuse(fmt::format("must be {}: {}", rule, value.error().message));
  if (*value < range.least || *value > range.most) return refuse_value(rule);
  return *value;
}

Result<std::size_t> ConfigValue::choice(const std::vector<std::string_view>& words) const {
  const auto rule = fmt::format("{}", fmt::join(words, " or "));
  const auto text = scalar(rule);
  if (!text) return std::unexpected(text.error());
  const auto found = std::ranges::find(words, *text);
  if (found == words.end()) return refuse_value(rule);
  return static_cast<std::size_t>(found - words.begin());
}

}  // namespace holdfast::server
