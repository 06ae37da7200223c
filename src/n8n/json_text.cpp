// SPDX-License-Identifier: Apache-2.0
#include "n8n/json_text.hpp"

#include "n8n/limits.hpp"

#include <boost/json/serialize.hpp>
#include <boost/json/stream_parser.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace holdfast::n8n {
namespace {

namespace json = boost::json;

// "flow.json:3:17", both counted from 1, the column in bytes.
std::string place(std::string_view file_name, std::string_view text, std::size_t at) {
  const auto before = text.substr(0, at);
  const auto line = std::ranges::count(before, '\n') + 1;
  const auto line_start = before.rfind('\n');
  const auto column = line_start == std::string_view::npos ? at + 1 : at - line_start;
  return fmt::format("{}:{}:{}", file_name, line, column);
}

void indent(std::string& out, std::size_t depth) {
  out += '\n';
  out.append(2 * depth, ' ');
}

// The shortest digits that mean the same number: Boost would write 2.2 as 2.2E0.
void write_number(std::string& out, double number) {
  char digits[32];
  const auto end = std::to_chars(std::begin(digits), std::end(digits), number).ptr;
  out.append(std::begin(digits), end);
}

void write(std::string& out, const json::value& value, std::size_t depth);

void write_array(std::string& out, const json::array& array, std::size_t depth) {
  if (array.empty()) return void(out += "[]");
  out += '[';
  for (const auto& each : array) {
    if (&each != &array.front()) out += ',';
    indent(out, depth + 1);
    write(out, each, depth + 1);
  }
  indent(out, depth);
  out += ']';
}

void write_object(std::string& out, const json::object& object, std::size_t depth) {
  if (object.empty()) return void(out += "{}");
  out += '{';
  bool is_first = true;
  for (const auto& each : object) {
    if (!is_first) out += ',';
    is_first = false;
    indent(out, depth + 1);
    out += json::serialize(json::string(each.key())) + ": ";
    write(out, each.value(), depth + 1);
  }
  indent(out, depth);
  out += '}';
}

void write(std::string& out, const json::value& value, std::size_t depth) {
  if (const auto* array = value.if_array()) return write_array(out, *array, depth);
  if (const auto* object = value.if_object()) return write_object(out, *object, depth);
  if (const auto* number = value.if_double()) return write_number(out, *number);
  out += json::serialize(value);
}

}  // namespace

Result<json::value> parse_json(std::string_view text, std::string_view file_name) {
  if (text.size() > max_workflow_bytes) {
    return fail(Errc::limit_reached, fmt::format("{}: has more than {} bytes (max_workflow_bytes)",
                                                 file_name, max_workflow_bytes));
  }
  json::parse_options options;
  options.max_depth = max_workflow_depth;
  json::stream_parser parser({}, options);
  json::error_code failed;
  const auto read = parser.write_some(text.data(), text.size(), failed);
  if (!failed && read == text.size()) parser.finish(failed);
  if (failed == json::error::too_deep) {
    return fail(Errc::limit_reached,
                fmt::format("{}: is nested deeper than {} levels (max_workflow_depth)",
                            place(file_name, text, read), max_workflow_depth));
  }
  if (failed || read != text.size()) {
    return fail(Errc::bad_input, fmt::format("{}: is not JSON: {}", place(file_name, text, read),
                                             failed ? failed.message() : "more than one value"));
  }
  return parser.release();
}

std::string to_text(const json::value& value) {
  std::string out;
  write(out, value, 0);
  return out + '\n';
}

}  // namespace holdfast::n8n
