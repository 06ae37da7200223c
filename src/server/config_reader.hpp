// SPDX-License-Identifier: Apache-2.0
//
// Reads single values of a YAML map, each with its rule, and remembers where it stands for the
// sake of errors.
#pragma once

#include <holdfast/error.hpp>
#include <holdfast/options.hpp>

#include <boost/json/value.hpp>
#include <yaml-cpp/yaml.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
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

// A value, and what it is called: "server.limits.max_headers".
class ConfigValue {
 public:
  struct Place {
    std::string_view file_name;
    std::size_t first_line;  // of the YAML, in the whole file
  };

  // The mark is that of the key, where there is one: it stands where the eye looks.
  ConfigValue(const Place& place, std::string name, const YAML::Node& node, YAML::Mark mark)
      : place_(&place), name_(std::move(name)), node_(node), mark_(mark) {}

  using Reader = std::function<Result<void>(const ConfigValue&)>;
  using Readers = std::map<std::string_view, Reader>;
  // Calls the reader of each key. A key without one, or that stands twice, is refused.
  Result<void> read_map(const Readers& readers) const;
  // Calls the reader with each key that there is.
  Result<void> each_entry(
      const std::function<Result<void>(const std::string&, const ConfigValue&)>& read) const;
  // Calls the reader with each element of a list.
  Result<void> each_element(const Reader& read) const;

  // What cannot be read leaves `out` alone.
  Result<void> read(bool& out) const;
  Result<void> read_text(std::string& out) const;  // not empty, without control characters
  Result<void> read_texts(std::vector<std::string>& out) const;  // one, or a list of them
  Result<void> read_duration(Duration& out, DurationRange range) const;
  Result<void> read_number(double& out) const;            // finite
  Result<void> read_json(boost::json::value& out) const;  // anything that JSON can say
  template <typename Integer>
  Result<void> read_count(Integer& out, IntegerRange range) const;
  template <typename Integer>
  Result<void> read_size(Integer& out, IntegerRange range) const;
  template <typename Enum>
  Result<void> read_choice(Enum& out,
                           std::span<const std::pair<std::string_view, Enum>> choices) const;

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

  const Place* place_;
  std::string name_;
  YAML::Node node_;
  YAML::Mark mark_;
};

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
Result<void> ConfigValue::read_choice(
    Enum& out, std::span<const std::pair<std::string_view, Enum>> choices) const {
  std::vector<std::string_view> words;
  for (const auto& each : choices) words.push_back(each.first);
  auto index = choice(words);
  if (!index) return std::unexpected(std::move(index.error()));
  out = choices[*index].second;
  return {};
}

}  // namespace holdfast::server
