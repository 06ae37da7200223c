// SPDX-License-Identifier: Apache-2.0
#include "server/config_reader.hpp"

#include "model/utf8.hpp"
#include "server/config_json.hpp"
#include "text/duration.hpp"
#include "text/quote.hpp"
#include "text/url.hpp"

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

std::string text_of(Duration duration) {
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
  // yaml-cpp counts from 0, and says -1 where it does not know.
  const auto line = place_->first_line + static_cast<std::size_t>(std::max(mark_.line, 0));
  return fmt::format("{}:{}: {}", place_->file_name, line, name_);
}

std::unexpected<Error> ConfigValue::refuse(std::string_view reason) const {
  return fail(Errc::bad_input, fmt::format("{} {}", where(), reason));
}

std::unexpected<Error> ConfigValue::refuse(const Error& error) const {
  return fail(Errc::bad_input, fmt::format("{}: {}", where(), error.message));
}

std::unexpected<Error> ConfigValue::refuse_value(std::string_view rule) const {
  // It may be a URL with a password that stands in the wrong place.
  const auto shown = node_.IsScalar() ? quoted(text::masked(node_.Scalar())) : "something else";
  return refuse(fmt::format("must be {}; got {}", rule, shown));
}

Result<void> ConfigValue::each_entry(
    const std::function<Result<void>(const std::string&, const ConfigValue&)>& read) const {
  if (!node_.IsMap()) return refuse("must have the form KEY: VALUE");
  std::set<std::string> seen;
  for (const auto& entry : node_) {
    const auto mark = entry.first.Mark();
    const ConfigValue here(*place_, name_, node_, mark);
    if (!entry.first.IsScalar()) return here.refuse("has a key that is not a word");
    const auto& key = entry.first.Scalar();
    if (!seen.insert(key).second) {
      return here.refuse(fmt::format("has the key {} twice", quoted(key)));
    }
    const ConfigValue value(*place_, fmt::format("{}.{}", name_, shown(key)), entry.second, mark);
    if (auto done = read(key, value); !done) return done;
  }
  return {};
}

Result<void> ConfigValue::read_map(const Readers& readers) const {
  return each_entry([&](const std::string& key, const ConfigValue& value) -> Result<void> {
    const auto reader = readers.find(key);
    if (reader != readers.end()) return reader->second(value);
    return ConfigValue(*place_, name_, node_, value.mark_)
        .refuse(fmt::format("has the unknown key {}", quoted(key)));
  });
}

Result<void> ConfigValue::each_element(const Reader& read) const {
  if (!node_.IsSequence()) return refuse("must be a list");
  for (std::size_t i = 0; i < node_.size(); ++i) {
    const ConfigValue element(*place_, fmt::format("{}[{}]", name_, i), node_[i], node_[i].Mark());
    if (auto done = read(element); !done) return done;
  }
  return {};
}

Result<std::string> ConfigValue::scalar(std::string_view rule) const {
  if (!node_.IsScalar()) return refuse_value(rule);
  return node_.Scalar();
}

Result<void> ConfigValue::read(bool& out) const {
  constexpr std::pair<std::string_view, bool> choices[] = {{"true", true}, {"false", false}};
  return read_choice<bool>(out, choices);
}

Result<void> ConfigValue::read_text(std::string& out) const {
  constexpr std::string_view rule = "a text that is not empty, without control characters";
  auto text = scalar(rule);
  if (!text) return std::unexpected(std::move(text.error()));
  if (text->empty() || has_control_character(*text)) return refuse_value(rule);
  out = std::move(*text);
  return {};
}

Result<void> ConfigValue::read_texts(std::vector<std::string>& out) const {
  std::vector<std::string> texts;
  if (!node_.IsSequence()) {
    if (auto done = read_text(texts.emplace_back()); !done) return done;
  }
  for (std::size_t i = 0; node_.IsSequence() && i < node_.size(); ++i) {
    const ConfigValue element(*place_, fmt::format("{}[{}]", name_, i), node_[i], node_[i].Mark());
    if (auto done = element.read_text(texts.emplace_back()); !done) return done;
  }
  out = std::move(texts);
  return {};
}

Result<void> ConfigValue::read_duration(Duration& out, DurationRange range) const {
  const auto rule = fmt::format("from {} to {}", text_of(range.least), text_of(range.most));
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
