// SPDX-License-Identifier: Apache-2.0
//
// Reads single values of a configuration file, each with its rule, and remembers where it stands
// for the sake of errors.
#pragma once

#include <holdfast/error.hpp>
#include <holdfast/options.hpp>

#include "text/config_node.hpp"

#include <boost/json/fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::server {

struct IntegerRange {
  std::uint64_t least;
  std::uint64_t most;
};

struct DurationRange {
  Duration least;
  Duration most;
};

// A size in text: an integer, perhaps with KiB, MiB or GiB behind it. Errors: bad_input.
Result<std::uint64_t> parse_size(std::string_view text);
// The shortest text that parse_size reads as the same.
std::string format_size(std::uint64_t bytes);

// A word, and what it means.
template <typename Enum>
using ConfigChoice = std::pair<std::string_view, Enum>;

// A value, and what it is called: "server.limits.max_headers".
class ConfigValue {
 public:
  // The mark is that of the key, where there is one: it stands where the eye looks. The file's name
  // outlives the value.
  ConfigValue(std::string_view file_name, std::string name, text::ConfigNode node,
              text::ConfigMark mark)
      : file_name_(file_name), name_(std::move(name)), node_(std::move(node)), mark_(mark) {}

  using EntryReader = std::function<Result<void>(std::string_view key, const ConfigValue&)>;
  using Reader = std::function<Result<void>(const ConfigValue&)>;
  // Calls the reader with each entry of a map, in order. A key that stands twice is refused.
  Result<void> each_entry(const EntryReader& read) const;
  // Calls the reader with each element of a list.
  Result<void> each_element(const Reader& read) const;

  using TextCheck = Result<void> (*)(std::string_view);  // errors: what the text must be

  // What cannot be read leaves `out` alone.
  Result<void> read(bool& out) const;
  Result<void> read_text(std::string& out) const;  // not empty, without control characters
  Result<void> read_text(std::string& out, TextCheck check) const;  // the same, and passes it
  Result<void> read_texts(std::vector<std::string>& out) const;     // one, or a list of them
  Result<void> read_duration(Duration& out, DurationRange range) const;
  Result<void> read_number(double& out) const;            // finite
  Result<void> read_json(boost::json::value& out) const;  // anything that JSON can say
  template <typename Integer>
  Result<void> read_count(Integer& out, IntegerRange range) const;
  template <typename Integer>
  Result<void> read_size(Integer& out, IntegerRange range) const;
  template <typename Enum>
  Result<void> read_choice(Enum& out, std::span<const ConfigChoice<Enum>> choices) const;
  template <typename Enum>
  Result<void> read_choice(Enum& out, std::initializer_list<ConfigChoice<Enum>> choices) const {
    return read_choice<Enum>(out, std::span(choices));
  }

  // "config.yml:7: server has the unknown key \"treads\"", for the reader of that entry.
  std::unexpected<Error> refuse_key(std::string_view key) const;
  // "config.yml:7: server.threads REASON"
  std::unexpected<Error> refuse(std::string_view reason) const;
  // "config.yml:7: server.listen: MESSAGE"
  std::unexpected<Error> refuse(const Error& error) const;
  // "config.yml:7: server.threads must be RULE; got VALUE"
  std::unexpected<Error> refuse_value(std::string_view rule) const;

 private:
  std::string where() const;
  Result<std::string> scalar(std::string_view rule) const;
  Result<std::uint64_t> count(IntegerRange range) const;
  Result<std::uint64_t> size(IntegerRange range) const;
  Result<std::size_t> choice(const std::vector<std::string_view>& words) const;

  std::string_view file_name_;
  std::string name_;
  std::size_t map_name_bytes_ = 0;  // of the name: what the map is called whose entry it is
  text::ConfigNode node_;
  text::ConfigMark mark_;
};

// The entries of a map as fields of `out`. One function reads all keys: a table with a function
// object for each key is slow to compile.
template <typename Options>
Result<void> read_entries(const ConfigValue& map, Options& out,
                          Result<void> (*read)(std::string_view key, const ConfigValue&,
                                               Options&)) {
  return map.each_entry([&out, read](std::string_view key, const ConfigValue& value) {
    return read(key, value, out);
  });
}

template <typename Integer>
Result<void> ConfigValue::read_count(Integer& out, IntegerRange range) const {
  auto value = count(range);
  if (!value) return std::unexpected(std::move(value.error()));
  out = static_cast<Integer>(*value);
  return {};
}

template <typename Integer>
Result<void> ConfigValue::read_size(Integer& out, IntegerRange range) const {
  auto value = size(range);
  if (!value) return std::unexpected(std::move(value.error()));
  out = static_cast<Integer>(*value);
  return {};
}

template <typename Enum>
Result<void> ConfigValue::read_choice(Enum& out,
                                      std::span<const ConfigChoice<Enum>> choices) const {
  std::vector<std::string_view> words;
  for (const auto& each : choices) words.push_back(each.first);
  auto index = choice(words);
  if (!index) return std::unexpected(std::move(index.error()));
  out = choices[*index].second;
  return {};
}

}  // namespace holdfast::server
